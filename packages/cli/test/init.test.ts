import { readFileSync } from "node:fs";
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { initCommand } from "../src/commands/init.js";
import { main } from "../src/main.js";
import { clientNames, clients } from "../src/setup/clients.js";
import { serverEntry, starts } from "../src/setup/server-entry.js";
import { bin } from "./sandkit.js";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sandkit-init-"));
  vi.stubEnv("HOME", home);
  for (const name of ["XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"]) vi.stubEnv(name, "");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true, force: true });
});

/** The command in this process: a process of its own for each would take most of the time. */
async function init(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const told = { stdout: "", stderr: "" };
  const listeners = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((piece) => {
      told[name] += String(piece);
      return true;
    }),
  );
  try {
    const code = await main(["init", ...args]);
    return { code, ...told };
  } finally {
    for (const listener of listeners) listener.mockRestore();
  }
}

const pathOf = (client: keyof typeof clients) => clients[client].path({ platform: "linux", env: {}, home });

/** A client's file with this in it. */
async function given(client: keyof typeof clients, text: string | Uint8Array): Promise<string> {
  const path = pathOf(client);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

describe("the whole way, for every client", () => {
  it.each(clientNames)(
    "%s: prints, shows, writes once, refuses another entry, puts it in its place",
    async (client) => {
      const path = pathOf(client);
      const printed = await init("--client", client, "--print");
      expect(printed).toMatchObject({ code: 0, stderr: "" });
      await expect(stat(path)).rejects.toThrow("ENOENT");

      const dry = await init("--client", client, "--dry-run");
      expect(dry.code).toBe(0);
      const added = dry.stdout.split("\n").flatMap((line) => (/^\+(?!\+\+)/.test(line) ? [line.slice(1)] : []));
      expect(`${added.join("\n")}\n`).toBe(printed.stdout);
      await expect(stat(path)).rejects.toThrow("ENOENT");

      const first = await init("--client", client);
      expect(first).toMatchObject({ code: 0, stdout: `added "sandkit" in ${path}\n` });
      expect(first.stderr).toContain(`next: ${clients[client].next}`);
      expect(await readFile(path, "utf8")).toBe(printed.stdout);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(clients[client].format.read(printed.stdout).sandkit).toMatchObject({
        command: process.execPath,
        args: [bin, "mcp"],
      });

      expect((await init("--client", client)).stdout).toBe(`unchanged "sandkit" in ${path}\n`);
      const refused = await init("--client", client, "--provider", "docker");
      expect(refused).toMatchObject({ code: 1, stdout: "" });
      expect(refused.stderr).toContain(process.execPath);
      expect(refused.stderr).toContain("--force");
      expect(await readFile(path, "utf8")).toBe(printed.stdout);

      const forced = await init("--client", client, "--provider", "docker", "--force");
      expect(forced).toMatchObject({ code: 0, stdout: `replaced "sandkit" in ${path}\n` });
      const other = await init("--client", client, "--provider", "docker", "--print");
      expect(await readFile(path, "utf8")).toBe(other.stdout);
    },
  );
});

describe("what is there stays as it is", () => {
  const json = `{
  // my own
  "mcpServers": {
    "other": { "command": "other", "env": { "KEY": "x" } }, // keep
    /* the last */
    "last": {
      "command": "last" // really
    } // end
  },
  "theme": "dark", /* liked */
}
`;

  it("adds to JSON with comments and trailing commas, behind the last entry", async () => {
    const path = await given("cursor", json);
    expect((await init("--client", "cursor", "--start", "npx")).code).toBe(0);
    const expected = json.replace(
      "    } // end\n",
      `    }, // end
    "sandkit": {
      "command": "npx",
      "args": ["-y", "sandkit", "mcp"]
    }
`,
    );
    expect(await readFile(path, "utf8")).toBe(expected);
  });

  it("keeps a byte order mark, CRLF, tabs and the mode", async () => {
    const text = '\uFEFF{\r\n\t"servers": {\r\n\t\t"a": { "command": "a" },\r\n\t},\r\n}\r\n';
    const path = await given("vscode", text);
    await chmod(path, 0o640);
    expect((await init("--client", "vscode", "--start", "npx")).code).toBe(0);
    const written = await readFile(path, "utf8");
    expect(written.startsWith(text.slice(0, text.indexOf("\r\n\t},")))).toBe(true);
    expect(written.replaceAll("\r\n", "")).not.toContain("\n");
    expect(written).toContain('\r\n\t\t"sandkit": {\r\n\t\t\t"type": "stdio",\r\n');
    expect(written.endsWith("\r\n\t\t},\r\n\t},\r\n}\r\n")).toBe(true);
    expect((await stat(path)).mode & 0o777).toBe(0o640);
  });

  it.each([
    ["", undefined],
    ["  \n", undefined],
    ["// nothing yet\n", "// nothing yet\n"],
    ["{}", undefined],
    ["{ /* none */ }\n", "/* none */"],
    ['{"mcpServers":{"a":{"command":"a"}},"b":1}\n', '{"mcpServers":{"a":{"command":"a"}, "sandkit": {'],
    ['{\n    "b": 1\n}\n', '{\n    "b": 1,\n    "mcpServers": {\n        "sandkit": {\n            "command"'],
    ['{\n  "mcpServers": {}\n}\n', '{\n  "mcpServers": {\n    "sandkit": {\n      "command"'],
  ])("adds to %j", async (text, kept) => {
    const path = await given("windsurf", text);
    expect((await init("--client", "windsurf")).code).toBe(0);
    const written = await readFile(path, "utf8");
    if (kept !== undefined) expect(written).toContain(kept);
    expect(clients.windsurf.format.read(written)).toHaveProperty("sandkit.command", process.execPath);
  });

  it("writes through a link, which stays one", async () => {
    const path = pathOf("claude-code");
    const real = join(home, "dotfiles.json");
    await writeFile(real, '{ "numStartups": 7 }\n');
    await symlink(real, path);
    expect((await init("--client", "claude-code")).code).toBe(0);
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(JSON.parse(await readFile(real, "utf8"))).toMatchObject({
      numStartups: 7,
      mcpServers: { sandkit: { type: "stdio" } },
    });
  });

  it("adds to TOML, and puts one server in place of another between comments", async () => {
    const before = '# mine\nmodel = "m" # best\n\n[mcp_servers.a]\ncommand = "a"\n\n';
    const after = '# about b\n[mcp_servers."b"]\ncommand = """\n[mcp_servers.sandkit]\n"""\n';
    const old =
      '[ mcp_servers . "sandkit" ]\ncommand = "x"\nargs = [\n  "y", # z\n]\n[mcp_servers.sandkit.env]\nK = "v"\n\n';
    const path = await given("codex", before + after);
    await init("--client", "codex", "--start", "npx", "--env", "E2B_API_KEY=k");
    const entry = `[mcp_servers.sandkit]
command = "npx"
args = [ "-y", "sandkit", "mcp" ]
startup_timeout_sec = 60
`;
    const env = '\n[mcp_servers.sandkit.env]\nE2B_API_KEY = "k"\n';
    expect(await readFile(path, "utf8")).toBe(`${before}${after}\n${entry}${env}`);

    await writeFile(path, before + old + after);
    expect((await init("--client", "codex", "--start", "npx", "--force")).code).toBe(0);
    expect(await readFile(path, "utf8")).toBe(`${before}${entry}\n${after}`);
  });

  it("warns where a client does not read what people write", async () => {
    await given("claude", "{ // mine\n}\n");
    expect((await init("--client", "claude")).stderr).toContain("which Claude Desktop does not read");
  });
});

describe("is refused, and nothing changes", () => {
  it.each([
    ["cursor", '{\n  "mcpServers": {\n    "a": \n  }\n}', "line 4: no JSON (value expected)"],
    ["cursor", "[]", "line 1: it should hold an object"],
    ["cursor", '{\n"mcpServers": []\n}', 'line 2: "mcpServers" should be an object'],
    ["cursor", '{\n"mcpServers": {},\n"mcpServers": {}\n}', 'line 3: "mcpServers" stands there twice'],
    ["codex", "a = 1\nb = = 2\n", "line 2: no TOML"],
    ["codex", "mcp_servers = 3\n", '"mcp_servers" should be a table'],
    ["codex", 'mcp_servers = { a = { command = "a" } }\n', "cannot be added to"],
    ["vscode", new Uint8Array([0x7b, 0xff, 0x7d]), "is not UTF-8"],
  ] as const)("%s: %j", async (client, text, what) => {
    const path = await given(client, text);
    const { code, stdout, stderr } = await init("--client", client);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain(what);
    expect(stderr).toContain(path);
    expect(await readFile(path)).toEqual(Buffer.from(text));
  });

  it("a file that is read-only, a folder, and a link that leads nowhere", async () => {
    const path = await given("windsurf", "{}");
    await chmod(path, 0o444);
    expect((await init("--client", "windsurf")).stderr).toContain(`PERMISSION: ${path} is read-only`);
    expect(await readFile(path, "utf8")).toBe("{}");
    await mkdir(pathOf("cursor"), { recursive: true });
    expect((await init("--client", "cursor")).stderr).toContain("it is a directory");
    await symlink(join(home, "nowhere"), pathOf("claude-code"));
    expect((await init("--client", "claude-code")).stderr).toContain("is a link that leads nowhere");
  });

  it("hides the keys of the entry that it shows", async () => {
    await given("claude", '{"mcpServers":{"sandkit":{"command":"x","env":{"TOKEN":"hush-hush"}}}}');
    const { code, stderr } = await init("--client", "claude");
    expect(code).toBe(1);
    expect(stderr).toContain('"TOKEN": "…"');
    expect(stderr).not.toContain("hush-hush");
  });

  it.each([
    [["--client", "emacs"], "claude, claude-code, cursor"],
    [["--client", "cursor", "--name", "a b"], "letters, digits"],
    [["--client", "cursor", "--env", "KEY"], "a name and a value"],
    [["--force"], "--client claude"],
    [["--client", "cursor", "--provider", "dokcer"], "--provider docker"],
    [["--client", "cursor", "--config", "/nowhere.json"], "/nowhere.json: no such file"],
  ])("%j", async (args, fix) => {
    const { code, stderr } = await init(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(fix);
    expect(await readdir(home)).toEqual([]);
  });
});

it("lists the clients, which are here and which have the server", async () => {
  await given("cursor", "{}");
  await given("claude-code", '{"mcpServers":{"sandkit":{}}}');
  await given("codex", "= broken");
  const { code, stdout, stderr } = await init();
  expect(code).toBe(0);
  expect(stdout).toMatch(/^cursor +Cursor +found +- +\S+mcp\.json$/m);
  expect(stdout).toMatch(/^claude-code +Claude Code +found +has it +/m);
  expect(stdout).toMatch(/^codex +Codex +found +unreadable +/m);
  expect(stdout).toMatch(/^windsurf +Windsurf +- +- +/m);
  expect(stderr).toBe("next: sandkit init --client cursor\n");
  const asData = JSON.parse((await init("--json")).stdout);
  expect(asData.clients).toContainEqual(expect.objectContaining({ client: "cursor", configured: false }));
});

it("offers in its help what there is", () => {
  expect(initCommand.options.client?.choices).toEqual(clientNames);
  expect(initCommand.options.start?.choices).toEqual(starts);
});

it("starts npx as each system can, with the packages of other providers", () => {
  const options = { start: "npx", env: {}, provider: "@own/provider", config: "/etc/sandkit.json" } as const;
  const rest = ["--package=sandkit", "--package=@own/provider", "--", "sandkit", "mcp"];
  const passed = ["--provider", "@own/provider", "--config", "/etc/sandkit.json"];
  expect(serverEntry({ ...options, platform: "linux" })).toEqual({
    command: "npx",
    args: ["-y", ...rest, ...passed],
    env: {},
  });
  expect(serverEntry({ ...options, platform: "win32" })).toMatchObject({
    command: "cmd",
    args: ["/c", "npx", "-y", ...rest, ...passed],
  });
});

it("knows where clients keep their files on each system", () => {
  const mac = { platform: "darwin", env: {}, home: "/Users/a" } as const;
  const windows = {
    platform: "win32",
    env: { APPDATA: "C:\\Users\\a\\AppData\\Roaming" },
    home: "C:\\Users\\a",
  } as const;
  expect(clientNames.map((name) => clients[name].path(mac))).toEqual([
    "/Users/a/Library/Application Support/Claude/claude_desktop_config.json",
    "/Users/a/.claude.json",
    "/Users/a/.cursor/mcp.json",
    "/Users/a/Library/Application Support/Code/User/mcp.json",
    "/Users/a/.codeium/windsurf/mcp_config.json",
    "/Users/a/.codex/config.toml",
  ]);
  expect(clientNames.map((name) => clients[name].path(windows))).toEqual([
    "C:\\Users\\a\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
    "C:\\Users\\a\\.claude.json",
    "C:\\Users\\a\\.cursor\\mcp.json",
    "C:\\Users\\a\\AppData\\Roaming\\Code\\User\\mcp.json",
    "C:\\Users\\a\\.codeium\\windsurf\\mcp_config.json",
    "C:\\Users\\a\\.codex\\config.toml",
  ]);
  const own = { platform: "linux", env: { CODEX_HOME: "/c", CLAUDE_CONFIG_DIR: "/d" }, home: "/home/a" } as const;
  expect([clients.codex.path(own), clients["claude-code"].path(own)]).toEqual(["/c/config.toml", "/d/.claude.json"]);
});

describe.each(clientNames)("the page of %s", (client) => {
  const page = readFileSync(new URL(`../../../docs/mcp/${client}.md`, import.meta.url), "utf8");

  it("shows the entry and the output of the command", async () => {
    const { stdout: entry } = await init("--client", client, "--print", "--start", "npx");
    expect(page).toContain(`\`\`\`${client === "codex" ? "toml" : "json"}\n${entry}\`\`\`\n`);
    const { stdout, stderr } = await init("--client", client, "--start", "npx");
    expect(page).toContain(`\`\`\`\n${(stdout + stderr).replaceAll(home, "/home/you")}\`\`\`\n`);
  });

  it("names the file on each system", () => {
    const { path } = clients[client];
    expect(page).toContain(`\`${path({ platform: "darwin", env: {}, home: "~" })}\``);
    expect(page).toContain(`\`${path({ platform: "linux", env: {}, home: "~" })}\``);
    const windows = { platform: "win32", env: { APPDATA: "%APPDATA%" }, home: "%USERPROFILE%" } as const;
    expect(page).toContain(`\`${path(windows)}\``);
  });
});
