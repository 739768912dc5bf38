import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { commands } from "../src/commands.js";
import { bin, sandkit } from "./sandkit.js";

it.each([
  [["run", "--tiemout", "3", "-e", "1"], 'unknown option "--tiemout" of sandkit run', "did you mean --timeout?"],
  [["run", "--labelled", "task=42", "-e", "1"], 'unknown option "--labelled"', "did you mean --label?"],
  [["run", "-x", "-e", "1"], 'unknown option "-x" of sandkit run', "sandkit run --help"],
  [["run", "-e"], 'option "-e" needs a value', "-e CODE"],
  [["run", "--json=yes", "-e", "1"], 'option "--json" takes no value', "write --json"],
  [["run", "--timeout", "soon", "-e", "1"], 'option "--timeout" cannot be "soon"', "--timeout 30"],
  [["run", "--timeout", "0", "-e", "1"], 'option "--timeout" cannot be "0"', "above 0"],
  [
    ["run", "--language", "cobol", "-e", "1"],
    'option "--language" cannot be "cobol"',
    "python, javascript, typescript",
  ],
  [["run", "-e", "1", "-e", "2"], 'option "-e" is given twice', "once"],
  [["run"], "nothing to run", "sandkit run FILE"],
  [["run", "-e", " \n"], "the code after -e is empty", "give code"],
  [["run", "a.py", "-e", "1"], "both code (-e) and a file", "give one of them"],
  [["run", "a.py", "b"], 'unexpected argument "b"', "sandkit run FILE -- b"],
  [["run", "nowhere.py"], 'cannot read "nowhere.py": there is no such file', "name a readable file"],
  [["run", "--language", "python", tmpdir()], "it is a directory", "name a readable file"],
  [["run", "notes.txt"], 'cannot tell the language of "notes.txt"', "--language python | javascript | typescript"],
  [["run", "--provider", "dokcer", "-e", "1"], 'there is no provider "dokcer"', "did you mean: --provider docker"],
  [["exec"], "no sandbox is named", "sandkit exec REF COMMAND"],
  [["exec", "x"], "no command is given", "sandkit shell x"],
  [["exec", "-e", "COLOUR", "x", "env"], 'option "--env" cannot be "COLOUR"', "a name and a value"],
  [["exec", "--timeout", "soon", "x", "--", "env"], 'option "--timeout" cannot be "soon"', "--timeout 30"],
  [["cp", "a"], "a copy has two ends", "REF:PATH"],
  [["cp", "a", "./b:c"], "neither end is in a sandbox", "REF:PATH"],
  [["cp", "a:b", "c:d"], "both ends are in a sandbox", "sandkit cp REF:PATH -"],
  [["rm"], "nothing is named", "sandkit rm --all"],
  [["rm", "--all", "x"], "both --all and sandboxes are named", "sandkit rm REF"],
  [["create", "--memory", "much"], 'option "--memory" cannot be "much"', "above 0"],
  [["mcp", "carrier-pigeon"], 'cannot serve over "carrier-pigeon"', "stdio"],
  [["mcp", "http", "--port", "70000"], 'option "--port" cannot be "70000"', "65535"],
  [["rnu"], 'unknown command "rnu"', "sandkit run"],
  [
    ["--quiet", "run"],
    'unknown option before the command "--quiet"',
    "commands: run, create, ls, exec, shell, cp, logs, rm, gc, mcp, init, doctor, help",
  ],
  [["help", "fly"], 'no command "fly"', "run, create, ls, exec"],
])("%j is refused with what to do", async (args, what, fix) => {
  const { code, stdout, stderr } = await sandkit(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`error  USAGE: `);
  expect(stderr).toContain(what);
  expect(stderr.slice(stderr.indexOf("fix"))).toContain(fix);
});

it("tells wrong usage as JSON when --json is there", async () => {
  const { code, stderr } = await sandkit(["run", "--json", "--nope"]);
  expect(code).toBe(2);
  expect(JSON.parse(stderr).error).toMatchObject({ code: "USAGE", message: expect.stringContaining("--nope") });
});

it.each([[[]], [["--help"]], [["-h"]], [["help"]]])("%j shows every command", async (args) => {
  const { code, stdout, stderr } = await sandkit(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const { name, summary } of commands) expect(stdout).toContain(`${name.padEnd(6)}  ${summary}`);
});

it.each(commands.map(({ name }) => name))("help %s and %s --help are one page with every option", async (name) => {
  const [help, flag] = await Promise.all([sandkit(["help", name]), sandkit([name, "--help"])]);
  expect(help).toEqual(flag);
  const spec = commands.find((command) => command.name === name);
  for (const option of Object.keys(spec?.options ?? {})) expect(help.stdout).toContain(`--${option}`);
  expect(help.stdout).toContain("Exit codes");
});

it("describes itself as data", async () => {
  const { code, stdout } = await sandkit(["help", "--json"]);
  expect(code).toBe(0);
  const described = JSON.parse(stdout);
  expect(described.commands.map(({ name }: { name: string }) => name)).toEqual([
    "run",
    "create",
    "ls",
    "exec",
    "shell",
    "cp",
    "logs",
    "rm",
    "gc",
    "mcp",
    "init",
    "doctor",
    "help",
  ]);
  expect(described.commands[0].options.eval).toMatchObject({ short: "e", value: "CODE" });
  expect(described.exitCodes["2"]).toBe("wrong usage");
});

it("prints its version", async () => {
  expect((await sandkit(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

it("paints nothing without a terminal", async () => {
  const { stdout } = await sandkit(["run", "--help"]);
  expect(stdout).not.toContain("\u001b");
});

it("is started by the name in package.json", async () => {
  const { default: manifest } = await import("../package.json", { with: { type: "json" } });
  expect(bin.endsWith(manifest.bin.sandkit.slice(1))).toBe(true);
});
