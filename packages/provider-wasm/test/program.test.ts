import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox(wasm(), {});
});
afterAll(() => sandbox.destroy());

/** What a program did, in few words. */
async function run(args: readonly string[], options: Parameters<Sandbox["exec"]>[1] = {}) {
  const { exitCode, signal, reason, stdout, stderr } = await sandbox.exec(["python3", ...args], options);
  return { exitCode, signal, reason, stdout: stdout.text, stderr: stderr.text };
}

describe("python as a program", () => {
  it("runs a script relative to cwd with arguments, path and file as CPython sets them", async () => {
    await sandbox.files.write("pkg/helper.py", "NAME = 'helper'\n");
    await sandbox.files.write(
      "pkg/main.py",
      "import sys, helper\nprint(__name__, __file__, sys.argv, sys.path[0], helper.NAME)\nimport __main__; print(__main__.__dict__ is globals())",
    );
    expect(await run(["pkg/main.py", "a b", "-c"])).toMatchObject({
      exitCode: 0,
      stdout: "__main__ /workspace/pkg/main.py ['pkg/main.py', 'a b', '-c'] /workspace/pkg helper\nTrue\n",
      stderr: "",
    });
    expect((await run(["main.py"], { cwd: "/workspace/pkg" })).stdout).toContain("/workspace/pkg/main.py");
  });

  it("runs -c, -m, standard input and packages", async () => {
    await sandbox.files.write("tool/__main__.py", "import sys; print('tool', sys.argv[1:])");
    await sandbox.files.write(
      "test_sum.py",
      "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 2)\n",
    );
    expect((await run(["-c", "import sys; print(sys.argv)", "x"])).stdout).toBe("['-c', 'x']\n");
    expect((await run(["-m", "tool", "y"])).stdout).toBe("tool ['y']\n");
    expect((await run(["tool"])).stdout).toBe("tool []\n");
    expect((await run(["-"], { stdin: "print('from stdin')" })).stdout).toBe("from stdin\n");
    expect((await run([], { stdin: "print(6 * 7)" })).stdout).toBe("42\n");
    const tool = await run(["-m", "json.tool", "--compact"], { stdin: '{"a": [1]}' });
    expect(tool).toMatchObject({ stdout: '{"a":[1]}\n', stderr: "" });
    const tests = await run(["-m", "unittest", "-v"]);
    expect(tests).toMatchObject({ exitCode: 1, stdout: "" });
    expect(tests.stderr).toContain("AssertionError: 1 != 2");
    expect(await run(["-m", "no.such"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("No module named"),
    });
  });

  it("honours harmless flags and refuses the others by name", async () => {
    expect((await run(["-V"])).stdout).toMatch(/^Python 3\.14\.\d+\n$/);
    expect((await run(["-uBI", "-W", "error", "-c", "print(1)"])).stdout).toBe("1\n");
    expect(await run(["-O", "-c", "1"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("-O") });
    expect(await run(["missing.py"])).toMatchObject({
      exitCode: 2,
      stderr: "python3: can't open file '/workspace/missing.py': [Errno 44] No such file or directory\n",
    });
  });

  it("ends with the codes of CPython", async () => {
    expect((await run(["-c", "raise SystemExit(7)"])).exitCode).toBe(7);
    expect((await run(["-c", "import sys; sys.exit(-1)"])).exitCode).toBe(255);
    expect(await run(["-c", "import sys; sys.exit('why')"])).toMatchObject({ exitCode: 1, stderr: "why\n" });
    expect(await run(["-c", "import os; print('x', flush=True); os._exit(9)"])).toMatchObject({
      exitCode: 9,
      stdout: "x\n",
    });
    await sandbox.files.write("fails.py", "def f():\n    raise ValueError('no')\nf()\n");
    expect(await run(["fails.py"])).toMatchObject({
      exitCode: 1,
      stderr:
        'Traceback (most recent call last):\n  File "fails.py", line 3, in <module>\n    f()\n    ~^^\n' +
        "  File \"fails.py\", line 2, in f\n    raise ValueError('no')\nValueError: no\n",
    });
    expect(await run(["-c", "if x"])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("SyntaxError") });
    expect((await run(["-c", "import atexit; atexit.register(print, 'bye')"])).stdout).toBe("bye\n");
  });

  it("carries exact bytes both ways, apart or merged", async () => {
    const all = Uint8Array.from({ length: 256 }, (_, index) => index);
    const echo = await sandbox.exec(["python3", "-c", "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"], {
      stdin: all,
    });
    expect(echo.stdout.bytes).toEqual(all);
    const program = "import sys\nfor i in range(3):\n    print(i, flush=True)\n    print('e', i, file=sys.stderr)";
    expect(await run(["-c", program])).toMatchObject({ stdout: "0\n1\n2\n", stderr: "e 0\ne 1\ne 2\n" });
    expect(await run(["-c", program], { mergeStderr: true })).toMatchObject({
      stdout: "0\ne 0\n1\ne 1\n2\ne 2\n",
      stderr: "",
    });
  });

  it("streams input and output while it runs", async () => {
    const process = await sandbox.spawn(["python3", "-u", "-c", "for line in open(0): print(line.strip()[::-1])"]);
    const output = process.stdout[Symbol.asyncIterator]();
    for (const word of ["abc", "déf"]) {
      await process.write(`${word}\n`);
      let text = "";
      while (!text.endsWith("\n")) text += new TextDecoder().decode((await output.next()).value);
      expect(text).toBe(`${[...word].reverse().join("")}\n`);
    }
    await process.closeStdin();
    expect((await process.wait()).exitCode).toBe(0);
  });

  it("is held up by a slow reader", async () => {
    const process = await sandbox.spawn([
      "python3",
      "-c",
      "import sys\nfor i in range(4000):\n    sys.stdout.write('x' * 1023 + '\\n'); sys.stdout.flush(); open('/tmp/progress', 'w').write(str(i))",
    ]);
    const output = process.stdout[Symbol.asyncIterator]();
    await output.next();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(Number(await sandbox.files.readText("/tmp/progress"))).toBeLessThan(1500);
    let total = 0;
    for (let next = await output.next(); !next.done; next = await output.next()) total += next.value.length;
    expect(total).toBeGreaterThan(3_000_000);
    const end = await process.wait();
    expect({ ...end, stderr: end.stderr.text }).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("takes signals: its own handlers, KeyboardInterrupt, and the end", async () => {
    const cases = [
      {
        code: "import time; print('up', flush=True); time.sleep(60)",
        signal: "SIGINT",
        exit: { exitCode: null, signal: "SIGINT" },
      },
      {
        code: "import time; print('up', flush=True); time.sleep(60)",
        signal: "SIGTERM",
        exit: { exitCode: null, signal: "SIGTERM" },
      },
      {
        code: "print('up', flush=True)\nwhile True: pass",
        signal: "SIGKILL",
        exit: { exitCode: null, signal: "SIGKILL" },
      },
      {
        code: "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *a: sys.exit(5))\nprint('up', flush=True)\nwhile True: pass",
        signal: "SIGTERM",
        exit: { exitCode: 5 },
      },
      {
        code: "import signal, sys\nsignal.signal(signal.SIGUSR1, lambda *a: sys.exit(6))\nprint('up', flush=True)\ninput()",
        signal: "SIGUSR1",
        exit: { exitCode: 6 },
      },
    ];
    for (const { code, signal, exit } of cases) {
      const process = await sandbox.spawn(["python3", "-c", code]);
      await process.stdout[Symbol.asyncIterator]().next();
      await process.kill(signal);
      expect(await process.wait()).toMatchObject(exit);
    }
  });

  it("has asyncio, and says what it has not", async () => {
    const program = `
import asyncio, subprocess, threading
async def work(n):
    await asyncio.sleep(0.01 * n)
    return n
async def main():
    async with asyncio.timeout(5):
        print(await asyncio.gather(*map(work, range(3))), await asyncio.to_thread(lambda: "inline"))
asyncio.run(main())
for f in (lambda: subprocess.run(["git"]), threading.Thread(target=print).start):
    try: f()
    except Exception as e: print(type(e).__name__)`;
    expect((await run(["-c", program])).stdout).toBe("[0, 1, 2] inline\nFileNotFoundError\nRuntimeError\n");
  });

  it("gets env and cwd as data, and only those", async () => {
    const seen = await run(["-c", "import os, json; print(json.dumps([os.getcwd(), dict(os.environ)]))"], {
      cwd: "/tmp",
      env: { ODD: "a b\n$X 'q' ü", EMPTY: "" },
    });
    const [cwd, env] = JSON.parse(seen.stdout);
    expect(cwd).toBe("/tmp");
    expect(env).toMatchObject({ ODD: "a b\n$X 'q' ü", EMPTY: "", HOME: "/home/user" });
    expect(Object.keys(env).sort()).toEqual(["EMPTY", "HOME", "LANG", "MPLBACKEND", "ODD", "PATH", "TMPDIR"]);
    await expect(run(["-V"], { cwd: "/nowhere" })).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    await sandbox.files.write("/tmp/file", "");
    await expect(run(["-V"], { cwd: "/tmp/file" })).rejects.toMatchObject({ code: "NOT_DIRECTORY" });
  });

  it("ends 127 or 126 for what it cannot run, naming what it can", async () => {
    const missing = await sandbox.exec(["ruby", "-v"]);
    expect([missing.exitCode, missing.stderr.text]).toEqual([127, expect.stringContaining("python3")]);
    await sandbox.files.write("plain", "text");
    expect((await sandbox.exec(["/workspace/plain"])).exitCode).toBe(126);
    expect((await sandbox.exec(["/workspace/none"])).exitCode).toBe(127);
  });

  it("runs many at once without mixing them up", async () => {
    const numbers = Array.from({ length: 20 }, (_, index) => index);
    const results = await Promise.all(
      numbers.map((n) => run(["-c", "import os, sys; print(sys.argv[1], os.getpid())", `${n}`])),
    );
    expect(results.map(({ stdout }) => Number(stdout.split(" ")[0]))).toEqual(numbers);
    expect(new Set(results.map(({ stdout }) => stdout.split(" ")[1])).size).toBe(numbers.length);
  }, 120_000);
});
