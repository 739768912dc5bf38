import { randomUUID } from "node:crypto";
import { chmod, lstat, mkdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { atTerminal } from "./at-terminal.js";
import { describeOnEngine, dockerFolder, killContainer } from "./engine.js";
import { bin, sandkit, start } from "./sandkit.js";

const folder = dockerFolder();
const mark = randomUUID().slice(0, 8);
const live = (command: string, args: readonly string[], stdin?: string | Uint8Array) =>
  sandkit([command, "--config", folder.config(), ...args], stdin);

/** A command at a terminal of its own. */
const liveAtTerminal = (command: string, args: readonly string[]) =>
  atTerminal([process.execPath, bin, command, "--config", folder.config(), ...args], { NO_COLOR: "1" });

describeOnEngine("a living sandbox", { timeout: 30_000 }, () => {
  const name = `cli-${mark}`;
  let id = "";
  beforeAll(async () => {
    const made = await live("create", ["--name", name, "--label", `mark=${mark}`, "-e", "COLOUR=blue"]);
    expect(made).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^[0-9a-f-]{36}\n$/) });
    id = made.stdout.trim();
  });
  afterAll(() => live("rm", ["--all", "--yes", "--label", `mark=${mark}`]));

  it("is listed, got again by its name, and told apart from others", async () => {
    const { stdout } = await live("ls", ["--label", `mark=${mark}`, "--json"]);
    expect(JSON.parse(stdout).sandboxes).toMatchObject([{ ref: { provider: "docker", id }, name, state: "running" }]);
    expect((await live("create", ["--name", name, "--label", `mark=${mark}`, "-e", "COLOUR=blue"])).stdout).toBe(
      `${id}\n`,
    );
    const words = ["--", "exec", "--config", folder.config(), name.slice(0, -2)];
    expect((await sandkit(["completion", "bash", ...words])).stdout).toBe(`${name}\t${id}\n`);
    expect(await live("create", ["--name", name])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("CONFLICT"),
    });
  });

  it("is listed in lines that fit the terminal, however long its labels are; whole where they are read on", async () => {
    const label = `note=${"x".repeat(500)}`;
    const other = (await live("create", ["--label", `mark=long-${mark}`, "--label", label])).stdout.trim();
    const args = ["--label", `mark=long-${mark}`];
    const table = liveAtTerminal("ls", args);
    expect((await table.ended).code).toBe(0);
    const lines = table.shown().trimEnd().split("\r\n");
    expect(lines.map((line) => line.length)).toEqual([expect.any(Number), 100]);
    expect(lines[1]).toMatch(new RegExp(`^${other} .*…$`));
    expect((await live("ls", args)).stdout).toContain(label);
    expect((await live("ls", [...args, "--json"])).stdout).toContain("x".repeat(500));
    await live("rm", [other]);
  });

  it("runs programs: input, output, place, environment and exit code are theirs, options after the name too", async () => {
    const script = 'cat; echo "$COLOUR $SIZE" "$@"; pwd >&2; exit 7';
    const args = [
      "-e",
      "SIZE=big",
      "--cwd",
      "/tmp",
      id.slice(0, 13),
      "sh",
      "-c",
      script,
      "sh",
      "--timeout",
      "-h",
      "--",
      "x",
    ];
    expect(await live("exec", args, Buffer.from([0, 255, 10]))).toMatchObject({
      code: 7,
      stdoutBytes: Buffer.concat([Buffer.from([0, 255, 10]), Buffer.from("blue big --timeout -h -- x\n")]),
      stderr: "/tmp\n",
    });
    expect((await live("exec", ["--timeout", "0.3", name, "sleep", "9"])).code).toBe(124);
    const { code, stdout } = await live("exec", ["--json", name, "python3", "-c", "print(6 * 7)"]);
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, exitStatus: 0, stdout: "42\n" });
  });

  it("keeps what detached programs print, which logs shows while they run and after", async () => {
    const script = "echo one; until [ -e /tmp/go ]; do sleep 0.05; done; echo two; exit 3";
    const { stdout } = await live("exec", ["--detach", name, "sh", "-c", script]);
    const program = stdout.trim();
    expect((await live("logs", [name])).stdout).toMatch(new RegExp(`^${program}  running .* sh -c echo one`, "m"));
    expect((await live("logs", [name, program])).stdout).toBe("one\n");
    const following = live("logs", ["--follow", name, program]);
    await live("exec", [name, "touch", "/tmp/go"]);
    expect((await following).stdout).toBe("one\ntwo\n");
    const { programs } = JSON.parse((await live("logs", ["--json", name])).stdout);
    expect(programs).toMatchObject([{ program, state: "exited 3", bytes: 8 }]);
  });

  it("takes and gives files and folders, whatever their names, with permissions and links", async () => {
    const source = folder.path("a folder");
    const odd = "-odd \n'name'";
    await mkdir(`${source}/sub`, { recursive: true });
    await writeFile(`${source}/${odd}`, Buffer.from([0, 1, 255]));
    await writeFile(`${source}/sub/run`, "#!/bin/sh\necho ran\n");
    await chmod(`${source}/sub/run`, 0o750);
    await symlink("sub/run", `${source}/link`);
    expect(await live("cp", [source, `${name}:`])).toMatchObject({ code: 0, stdout: "", stderr: "" });

    // What the sandbox makes of it then is hostile.
    const hostile = [
      "./link; ln -s /etc/passwd out; ln -s sub/../.. up; ln -s sub around; ln -s around/../.. climb; mkfifo pipe",
      "ln -s .. sub/...; ln -s .../../other sub/dots; mkfifo \"$(printf 'red\\033[31m\\nfix')\"",
      "mkdir -p ../t/linked; echo x >../t/linked/owned; head -c 9000000 /dev/zero >/tmp/big",
    ];
    const ran = await live("exec", ["--cwd", "a folder", name, "sh", "-c", hostile.join("; ")]);
    expect(ran).toMatchObject({ code: 0, stdout: "ran\n" });
    const target = folder.path("back");
    const back = await live("cp", [`${name}:a folder`, target]);
    expect(back).toMatchObject({ code: 1, stdout: "" });
    expect(back.stderr.match(/left out {2}\S+ \S+\/(\w+)/g)?.map((line) => line.split("/").at(-1))).toEqual(
      expect.arrayContaining(["out", "up", "climb", "pipe", "dots"]),
    );
    // A name steers no terminal, and begins no line of its own.
    expect(back.stderr).toMatch(/\/red\ufffd\[31m\ufffdfix: neither/);
    expect(await readFile(`${target}/${odd}`)).toEqual(Buffer.from([0, 1, 255]));
    expect((await stat(`${target}/sub/run`)).mode & 0o777).toBe(0o750);
    expect(await readlink(`${target}/around`)).toBe("sub");
    await expect(lstat(`${target}/out`)).rejects.toThrow("ENOENT");

    // What is in it, into a folder that is there; but not through a link.
    await mkdir(folder.path("into"));
    await live("cp", [`${name}:a folder/sub/.`, folder.path("into")]);
    expect(await readFile(folder.path("into/run"), "utf8")).toBe("#!/bin/sh\necho ran\n");
    await symlink("/tmp", folder.path("into/linked"));
    expect(await live("cp", [`${name}:t/.`, folder.path("into")])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is a link"),
    });

    expect((await live("cp", ["-", `${name}:/tmp/in`], "by a pipe")).code).toBe(0);
    expect((await live("cp", [`${name}:/tmp/in`, "-"])).stdout).toBe("by a pipe");
    // Who has seen enough of it is told nothing more.
    const { child, outcome } = start(["cp", "--config", folder.config(), `${name}:/tmp/big`, "-"]);
    child.stdout.once("data", () => child.stdout.destroy());
    expect(await outcome).toMatchObject({ code: 141, stderr: "" });
    expect(await live("cp", [`${name}:nowhere`, target])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("nowhere"),
    });
    expect(await live("cp", [folder.path("nowhere"), `${name}:`])).toMatchObject({ code: 2, stdout: "" });
  });

  it("has a shell at a terminal: sizes and Ctrl-C go inside, and the terminal is given back", async () => {
    const { child, ended, shows, types } = liveAtTerminal("shell", [name]);
    await shows("$ ");
    types("stty size\r");
    await shows("30 100");
    child.kill("SIGUSR1");
    // What draws a whole screen needs its line feeds as they are.
    types("printf 'a\\nb'; stty -opost; printf 'c\\nd\\r\\n'; stty opost\r");
    await shows("a\r\nbc\nd\r\n");
    types("sleep 60\r");
    await shows("sleep 60\r\n");
    types("\u0003");
    await shows("^C");
    types("stty size; echo $((40 + 2))\r");
    await shows("30 50");
    await shows("42");
    // A shell that ends in order may have left the terminal telling of the mouse.
    types("printf '\\033[?1003h'; exit 5\r");
    expect(await ended).toEqual({ code: 5, told: "restored" });
    await shows("\u001b[?1003l");
  });

  it("prompts in a shell with what is known: its user has no name, but a home", async () => {
    const bash = liveAtTerminal("shell", [name]);
    await bash.shows("sandkit:/workspace$ ");
    bash.types("cd; echo $HOME $USER; echo 'PS1=\"mine \\u: \"' >.bashrc; ls -l /proc/$$/fd\r");
    await bash.shows("/tmp/.home sandbox\r\n");
    await bash.shows("sandkit:~$ ");
    expect(bash.shown()).not.toMatch(/I have no name|-> pipe/);
    // What it starts prompts as it does itself.
    bash.types("sh\r");
    await bash.shows("\r$ ");
    bash.types("exit\rexit 3\r");
    expect((await bash.ended).code).toBe(3);
    const set = liveAtTerminal("shell", [name]);
    await set.shows("mine sandkit: ");
    set.types("rm ~/.bashrc; exit 4\r");
    expect((await set.ended).code).toBe(4);
  });

  it("prompts in a shell that is not bash too", async () => {
    const shell = await readFile(new URL("../src/guest/shell.sh", import.meta.url), "utf8");
    const { code, stderr } = await live("exec", [name, "sh", "-c", shell, "sh", "in $PWD: "], "exit 4\n");
    expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining("in /workspace: ") });
  });

  it("gives the terminal back from a shell that does not answer, and when it is told to end", async () => {
    const deaf = liveAtTerminal("shell", [name]);
    await deaf.shows("$ ");
    deaf.types("trap '' HUP INT TERM; stty -isig; sleep 60\r");
    await deaf.shows("sleep 60\r\n");
    deaf.types("\r~.");
    expect(await deaf.ended).toEqual({ code: 255, told: "restored" });
    const told = liveAtTerminal("shell", [name]);
    await told.shows("$ ");
    told.child.kill("SIGTERM");
    expect(await told.ended).toEqual({ code: 143, told: "restored" });
    expect(await live("shell", [name])).toMatchObject({ code: 2, stderr: expect.stringContaining("needs a terminal") });
  });

  it("is gone after rm, which asks before it removes all", async () => {
    const label = ["--label", `mark=${mark}`];
    const other = (await live("create", label)).stdout.trim();
    expect(await live("rm", ["--all", ...label])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("--yes"),
    });
    const asked = liveAtTerminal("rm", ["--all", ...label]);
    await asked.shows("remove 2 sandboxes (docker)? [y/N]");
    asked.types("n\r");
    expect((await asked.ended).code).toBe(1);
    const named = await live("rm", [other.slice(0, 18), "nowhere", name]);
    expect(named).toMatchObject({ code: 1, stderr: expect.stringContaining('"nowhere"') });
    expect(named.stderr).not.toContain("sandkit create");
    expect(named.stdout.trim().split("\n").sort()).toEqual([id, other].sort());
    expect(JSON.parse((await live("ls", [...label, "--json"])).stdout).sandboxes).toEqual([]);
    expect((await live("exec", [name, "true"])).code).toBe(125);
    expect(await live("rm", ["--all", ...label])).toMatchObject({ code: 0, stdout: "" });
  });
});

describeOnEngine("a sandbox that is gone", { timeout: 30_000 }, () => {
  const label = ["--label", `mark=gone-${mark}`];
  const next = /^fix .*gone.*: sandkit create$/m;
  const create = async (...more: readonly string[]) => (await live("create", [...label, ...more])).stdout.trim();
  afterAll(() => live("rm", ["--all", "--yes", ...label]));

  it("is not tried again: exec, shell and cp say to make another", async () => {
    const id = await create();
    const shell = liveAtTerminal("shell", [id]);
    const exec = start(["exec", "--config", folder.config(), id, "sh", "-c", "echo begun; sleep 60"]);
    await Promise.all([shell.shows("$ "), exec.printed("begun")]);
    await killContainer(id);
    const { code, stderr } = await exec.outcome;
    expect({ code, stderr }).toMatchObject({ code: 125, stderr: expect.stringMatching(next) });
    expect(stderr).toMatch(/SANDBOX_LOST: .* somebody ended its container/);
    expect(await shell.ended).toEqual({ code: 125, told: "restored" });
    const shown = shell.shown().replaceAll("\r", "");
    expect(shown).toMatch(next);
    expect(shown).toMatch(/^error {2}SANDBOX_LOST/m);
    expect(await live("exec", [id, "true"])).toMatchObject({ code: 125, stderr: expect.stringMatching(next) });
    const copied = await live("cp", [`${id}:/etc/hostname`, "-"]);
    expect(copied).toMatchObject({ code: 1, stderr: expect.stringMatching(next) });
  });

  it("is told likewise where its time is over", async () => {
    const { code, stderr } = await live("exec", [await create("--ttl", "3"), "sleep", "60"]);
    expect({ code, stderr }).toMatchObject({ code: 125, stderr: expect.stringMatching(next) });
    expect(stderr).toContain("EXPIRED");
  });
});

describe("with a provider whose sandboxes end with their program", () => {
  it.each([["create"], ["exec", "x", "true"]])("sandkit %s says why not, and what to do", async (...args) => {
    const { code, stdout, stderr } = await sandkit([args[0] ?? "", "--provider", "wasm", ...args.slice(1)]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(/UNSUPPORTED: sandboxes of provider "wasm" live and end with the program that made them/);
    expect(stderr).toMatch(/^fix .*sandkit run --provider wasm/m);
    expect(stderr).toMatch(/or .*sandkit create --provider docker/);
  });
});
