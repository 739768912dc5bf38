import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sandkit, start } from "./sandkit.js";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sandkit-cli-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

const providers = process.env.SANDKIT_TEST_ALL === "1" ? ["wasm", "@sandkit/provider-local"] : ["wasm"];

describe.each(providers)("sandkit run --provider %s", (provider) => {
  const run = (args: readonly string[], stdin?: string | Uint8Array) =>
    sandkit(["run", "--provider", provider, ...args], stdin);

  it("prints what the program prints and nothing else", async () => {
    expect(await run(["-e", "print(2**100)"])).toMatchObject({
      code: 0,
      stdout: "1267650600228229401496703205376\n",
      stderr: "",
    });
  });

  it("gives the program's exit code", async () => {
    expect(await run(["-e", "raise SystemExit(7)"])).toMatchObject({ code: 7, stdout: "", stderr: "" });
  });

  it("gives 1 and the traceback for an uncaught exception", async () => {
    const { code, stdout, stderr } = await run(["-e", "print('before')\n{}['key']"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "before\n" });
    expect(stderr).toContain("KeyError: 'key'");
  });

  it("passes bytes through unchanged", async () => {
    const { stdoutBytes } = await run(["-e", "import sys; sys.stdout.buffer.write(bytes(range(256)) * 3)"]);
    expect(stdoutBytes).toEqual(Buffer.concat(Array.from({ length: 3 }, () => Buffer.from([...Array(256).keys()]))));
  });

  it("gives the program its stdin", async () => {
    const { stdout } = await run(["-e", "import sys; print(sys.stdin.read().upper())"], "héllo\nworld");
    expect(stdout).toBe("HÉLLO\nWORLD\n");
  });

  it("ends with a program that never reads an open stdin", async () => {
    const { outcome, child } = start(["run", "--provider", provider, "-e", "print('done')"]);
    expect(await outcome).toMatchObject({ code: 0, stdout: "done\n" });
    child.stdin.destroy();
  });

  it("runs a file with the arguments after --", async () => {
    const path = await file("arguments.py", "import sys; print(sys.argv)");
    const { stdout } = await run([path, "--", "--year", "2026", "a 'b'"]);
    expect(stdout).toBe(`['arguments.py', '--year', '2026', "a 'b'"]\n`);
  });

  it.each(["-c.py", "two words.py", "übung.py"])("runs a file called %s", async (name) => {
    expect(await run([await file(name, "print('ran')")])).toMatchObject({ code: 0, stdout: "ran\n" });
  });

  it("runs a file of 10 MB", async () => {
    const path = await file("big.py", `${"# padding\n".repeat(1_000_000)}print('end')\n`);
    expect(await run([path])).toMatchObject({ code: 0, stdout: "end\n" });
  });

  it("reads the program from stdin for -", async () => {
    expect(await run(["-", "--", "x"], "import sys\nprint(sys.argv)")).toMatchObject({ stdout: "['-', 'x']\n" });
  });

  it("ends the program at its deadline with 124, keeping its output", async () => {
    const { code, stdout } = await run(["--timeout", "5", "-e", "print('started', flush=True)\nwhile True: pass"]);
    expect({ code, stdout }).toEqual({ code: 124, stdout: "started\n" });
  });

  it("shows output while the program runs", async () => {
    const code = "import sys\nprint('ready', flush=True)\nsys.stdin.read()\nprint('end')";
    const { child, printed, outcome } = start(["run", "--provider", provider, "-e", code]);
    await printed("ready");
    child.stdin.end();
    expect(await outcome).toMatchObject({ code: 0, stdout: "ready\nend\n" });
  });

  it("passes 20 MB on without a loss", async () => {
    const { stdoutBytes } = await run(["-e", "for _ in range(2000): print('x' * 9999)"]);
    expect(stdoutBytes.length).toBe(20_000_000);
  });

  it("stops the program with 141 when nobody reads its output any more", async () => {
    const { child, printed, outcome } = start(["run", "--provider", provider, "-e", "while True: print('line')"]);
    await printed("line");
    child.stdout.destroy();
    expect((await outcome).code).toBe(141);
  });

  it("gives one JSON document with --json, and the same exit code", async () => {
    const code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)";
    const outcome = await run(["--json", "-e", code]);
    expect(outcome).toMatchObject({ code: 3, stderr: "" });
    expect(JSON.parse(outcome.stdout)).toMatchObject({
      exitCode: 3,
      exitStatus: 3,
      reason: "exited",
      ok: false,
      stdout: "out\n",
      stderr: "err\n",
      durationMs: expect.any(Number),
      truncated: { stdout: false, stderr: false },
    });
  });

  it("tells a deadline in JSON as it is", async () => {
    const outcome = await run(["--json", "--timeout", "1", "-e", "while True: pass"]);
    expect(outcome.code).toBe(124);
    expect(JSON.parse(outcome.stdout)).toMatchObject({ exitCode: null, exitStatus: 124, reason: "timeout" });
  });

  it("shows the messages of a compiler, and says where a program of TypeScript is none", async () => {
    const { code, stderr } = await run([await file("wrong.ts", "const n: number = 1;\nconst = 2;\n")]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error {2}USAGE: wrong\.ts:2:7: this is no TypeScript: /);
  });

  it("sees no file of this machine but the one it was given", async () => {
    await file("secret.txt", "secret");
    const path = await file("look.py", "import os; print(os.listdir('.'))");
    expect((await run([path])).stdout).toBe("['look.py']\n");
  });
});

describe("sandkit run", () => {
  it("runs JavaScript and TypeScript in WebAssembly", async () => {
    const script = await file("app.js", "console.log('js', process.argv.slice(2)); process.exit(4);\n");
    expect(await sandkit(["run", "--provider", "wasm", script, "--", "a b"])).toMatchObject({
      code: 4,
      stdout: "js [ 'a b' ]\n",
    });
    const typed = await file("app.ts", "const answer: number = 6 * 7;\nconsole.log(await Promise.resolve(answer));\n");
    expect(await sandkit(["run", "--provider", "wasm", typed])).toMatchObject({ code: 0, stdout: "42\n" });
  });

  it("runs shell scripts in WebAssembly", async () => {
    const script = await file(
      "build.sh",
      "#!/bin/bash\nset -e\necho \"sh $1\" | tr a-z A-Z\npython3 -c 'print(6 * 7)'\nexit 3\n",
    );
    expect(await sandkit(["run", "--provider", "wasm", script, "--", "a b"])).toMatchObject({
      code: 3,
      stdout: "SH A B\n42\n",
    });
    expect(await sandkit(["run", "--provider", "wasm", "--language", "shell", "-e", "echo $((1 + 1))"])).toMatchObject({
      code: 0,
      stdout: "2\n",
    });
  });

  it("gives 125 and the way out for a provider that is not installed", async () => {
    const { code, stderr } = await sandkit(["run", "--provider", "sandkit-provider-nowhere", "-e", "1"]);
    expect(code).toBe(125);
    expect(stderr).toMatch(
      /^error {2}UNAVAILABLE: .*is not installed.*\nfix {4}.*: npm install sandkit-provider-nowhere\n {3}or {2}.*sandkit run --provider wasm …\n$/,
    );
  });

  it("tells that failure as one JSON document on stderr with --json", async () => {
    const { code, stdout, stderr } = await sandkit([
      "run",
      "--json",
      "--provider",
      "sandkit-provider-nowhere",
      "-e",
      "1",
    ]);
    expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: "UNAVAILABLE",
        message: expect.any(String),
        fix: [{ command: "npm install sandkit-provider-nowhere" }, { command: "sandkit run --provider wasm …" }],
      },
    });
  });

  it("refuses a config that is not there", async () => {
    const { code, stderr } = await sandkit(["run", "--config", join(folder, "none.json"), "-e", "1"]);
    expect(code).toBe(2);
    expect(stderr).toContain("none.json");
  });
});
