import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type DaytonaEmulator, type E2BEmulator, startDaytona, startE2B } from "@sandkit/cloud-emulator";
import { createSandbox } from "@sandkit/core";
import { daytona as createDaytona } from "@sandkit/provider-daytona";
import { e2b as createE2B } from "@sandkit/provider-e2b";
import { local } from "@sandkit/provider-local";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bin, environment, start } from "./sandkit.js";

let folder = "";
let e2b: E2BEmulator;
let daytona: DaytonaEmulator;
let index: Server;

// Both users of E2B are the one user of an emulated machine.
const e2bOptions = () => ({ apiKey: e2b.apiKey, apiUrl: e2b.url, sandboxUrl: e2b.url, user: "root" });
const daytonaOptions = () => ({ apiKey: daytona.apiKey, apiUrl: daytona.url, target: "us" });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sandkit-clouds-"));
  // Plain processes, which have the network of this machine, whatever is wished.
  const machines = { provider: local(), network: "record" } as const;
  [e2b, daytona] = await Promise.all([startE2B(machines), startDaytona(machines)]);
  const { apiKey: _secret, ...options } = e2bOptions();
  await writeFile(
    join(folder, "e2b.json"),
    JSON.stringify({ provider: "e2b", options, tools: ["expose_port", "snapshot"] }),
  );
  index = await packageIndex();
});

afterAll(async () => {
  index.close();
  await Promise.all([e2b.close(), daytona.close()]);
  await rm(folder, { recursive: true });
});

/** An index of packages on this machine that has one package of one module. */
async function packageIndex(): Promise<Server> {
  const wheel = "greet-1.0-py3-none-any.whl";
  const info = join(folder, "greet-1.0.dist-info");
  await mkdir(info);
  await Promise.all([
    writeFile(join(folder, "greet.py"), "WORDS = 'from the index'\n"),
    writeFile(join(info, "METADATA"), "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n"),
    writeFile(join(info, "WHEEL"), "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
    writeFile(join(info, "RECORD"), "greet.py,,\ngreet-1.0.dist-info/METADATA,,\ngreet-1.0.dist-info/WHEEL,,\n"),
  ]);
  const pack = ["-m", "zipfile", "-c", wheel, "greet.py", "greet-1.0.dist-info"];
  await promisify(execFile)("python3", pack, { cwd: folder });
  const bytes = await readFile(join(folder, wheel));
  const server = createServer(({ url }, response) => {
    if (url === `/${wheel}`) response.end(bytes);
    else if (url === "/simple/greet/")
      response.setHeader("Content-Type", "text/html").end(`<a href="/${wheel}">${wheel}</a>`);
    else response.writeHead(404).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

/** E2B by a config file, Daytona by the environment alone. */
const clouds = {
  e2b: { args: () => ["--config", join(folder, "e2b.json")], env: () => ({}), key: "E2B_API_KEY" },
  daytona: {
    args: () => [],
    env: () => ({ SANDKIT_PROVIDER: "daytona", DAYTONA_API_URL: daytona.url, DAYTONA_TARGET: "us" }),
    key: "DAYTONA_API_KEY",
  },
} as const;

describe.each(["e2b", "daytona"] as const)(
  "a config line for %s",
  (name) => {
    const { args, env, key } = clouds[name];
    const apiKey = () => ({ e2b, daytona })[name].apiKey;

    async function withServer(keyed: boolean, work: (client: Client) => Promise<void>): Promise<void> {
      const client = new Client({ name: "test", version: "1.0.0" });
      const own = { ...environment, ...env(), ...(keyed && { [key]: apiKey() }) };
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [bin, "mcp", ...args()],
        env: own,
      });
      await client.connect(transport);
      try {
        await work(client);
      } finally {
        await client.close();
      }
    }

    it("is all that `sandkit run` needs", async () => {
      const program = "print(6 * 7); raise SystemExit(3)";
      const all = ["run", ...args(), "-e", program];
      const { code, stdout, stderr } = await start(all, { ...env(), [key]: apiKey() }).outcome;
      expect({ code, stdout }, stderr).toEqual({ code: 3, stdout: "42\n" });
      const { stdout: left } = await start(["ls", ...args(), "--json"], { ...env(), [key]: apiKey() }).outcome;
      expect(JSON.parse(left)).toEqual({ provider: name, sandboxes: [] });
    });

    it("is all that the MCP server needs", async () => {
      await withServer(true, async (client) => {
        const code = "squares = [n * n for n in range(10)]; sum(squares)";
        const cell = await client.callTool({ name: "run_code", arguments: { code } });
        expect(JSON.stringify(cell)).toContain("285");
        const again = await client.callTool({ name: "run_code", arguments: { code: "len(squares)" } });
        expect(JSON.stringify(again)).toContain("10");
      });
    });

    it.skipIf(name !== "e2b")("offers a port and a snapshot to clients where it names these tools", async () => {
      await withServer(true, async (client) => {
        const call = async (tool: string, input: Record<string, unknown>) => {
          const result = await client.callTool({ name: tool, arguments: input });
          return JSON.stringify(result.content);
        };
        const { tools } = await client.listTools();
        expect(tools.slice(8).map((tool) => tool.name)).toEqual(["expose_port", "snapshot"]);
        await call("write_file", { path: "page.txt", content: "served from inside" });
        const serve =
          "import functools, http.server, threading\nserver = http.server.ThreadingHTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\nthreading.Thread(target=server.serve_forever, daemon=True).start()\nserver.server_port";
        const port = Number(/\[value\]\\n(\d+)/.exec(await call("run_code", { code: serve }))?.[1]);
        const exposed = await call("expose_port", { port });
        const url = /is at (http[^\s"\\]+)/.exec(exposed)?.[1];
        const headers = Object.fromEntries(
          [...exposed.matchAll(/every request: ([^:]+): ([^\\"]+)/g)].map(([, header, value]) => [header, value]),
        );
        const page = await fetch(`${url}/page.txt`, { headers });
        expect(await page.text(), exposed).toBe("served from inside");
        const snapshot = /snapshot: ([^\s"\\]+)/.exec(await call("snapshot", {}))?.[1] ?? "";
        expect(await call("create_sandbox", { snapshot: `${snapshot}x` })).toMatch(
          /^.{0,30}NOT_FOUND: there is no snap/,
        );
        const made = await client.callTool({ name: "create_sandbox", arguments: { snapshot } });
        const { sandbox_id } = made.structuredContent as { sandbox_id: string };
        expect(await call("read_file", { path: "page.txt", sandbox_id })).toContain("served from inside");
      });
    });

    it("goes with packages from an index of one's own", async () => {
      const { port } = index.address() as AddressInfo;
      const site = join(folder, `site-${name}`);
      // The machine is this one, whose own packages are left alone.
      const env = { PIP_INDEX_URL: `http://127.0.0.1:${port}/simple/`, PIP_TARGET: site, PYTHONPATH: site };
      const options = { packages: ["greet == 1.0"], env };
      await using sandbox = await (name === "e2b"
        ? createSandbox(createE2B(e2bOptions()), options)
        : createSandbox(createDaytona(daytonaOptions()), options));
      expect((await sandbox.runCode("import greet; greet.WORDS")).value).toBe("from the index");
    });

    it("without a key starts all the same, and its first use says which variable to set", async () => {
      await withServer(false, async (client) => {
        expect((await client.listTools()).tools.length).toBeGreaterThan(3);
        const result = await client.callTool({ name: "exec", arguments: { command: "echo x" } });
        expect(result.isError).toBe(true);
        expect(JSON.stringify(result.content)).toContain(key);
      });
      const { code, stdout, stderr } = await start(["run", ...args(), "-e", "print(1)"], { ...env(), [key]: "" })
        .outcome;
      expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
      expect(stderr).toContain(key);
    });
  },
  60_000,
);
