import { createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wasm } from "../src/index.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox(wasm(), {});
});
afterAll(() => sandbox.destroy());

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("cells", () => {
  it("share one __main__, and give the value of the last expression", async () => {
    await sandbox.runCode("x = 40\nclass Point:\n    pass\ndef double(n): return 2 * n");
    expect((await sandbox.runCode("double(x) + 2")).value).toBe(82);
    expect((await sandbox.runCode("_ - 2")).value).toBe(80);
    expect(
      (
        await sandbox.runCode(
          "import __main__, pickle\n__main__.x is x and type(pickle.loads(pickle.dumps(Point()))) is Point",
        )
      ).value,
    ).toBe(true);
    const quiet = await sandbox.runCode("x;");
    expect([quiet.value, quiet.outputs]).toEqual([undefined, []]);
    expect((await sandbox.runCode("")).exitCode).toBe(0);
  });

  it("give values as JSON where they have one", async () => {
    expect((await sandbox.runCode("{'a': (1, 2.5, None, True), 'b': 'ü'}")).value).toEqual({
      a: [1, 2.5, null, true],
      b: "ü",
    });
    expect(
      (await sandbox.runCode("import array\nclass Array:\n    def tolist(self): return [1, 2]\nArray()")).value,
    ).toEqual([1, 2]);
    const none = await sandbox.runCode("{1, 2}");
    expect([none.value, none.outputs]).toEqual([undefined, [{ "text/plain": "{1, 2}" }]]);
    expect((await sandbox.runCode("float('nan')")).value).toBeUndefined();
  });

  it("show objects in every form they have", async () => {
    const { outputs } = await sandbox.runCode(`
class Figure:
    def _repr_png_(self): return b"\\x89PNG"
    def _repr_html_(self): return "<b>f</b>"
    def _repr_markdown_(self): raise ValueError
    def __repr__(self): return "Figure()"
class Bundle:
    def _repr_mimebundle_(self, include=None, exclude=None): return {"application/json": {"a": 1}}, {}
display(Figure(), 1)
print("between")
Bundle()`);
    expect(outputs).toEqual([
      { "text/plain": "Figure()", "text/html": "<b>f</b>", "image/png": "iVBORw==" },
      { "text/plain": "1" },
      { "text/plain": expect.stringContaining("Bundle object"), "application/json": { a: 1 } },
    ]);
  });

  it("await at the top level, and let tasks run between them", async () => {
    const first = await sandbox.runCode(`
import asyncio
async def later():
    await asyncio.sleep(0.05); return "late"
task = asyncio.create_task(later())
await asyncio.sleep(0)
await asyncio.gather(later(), later())`);
    expect(first.value).toEqual(["late", "late"]);
    await wait(300);
    expect((await sandbox.runCode("task.done() and task.result()")).value).toBe("late");
    expect((await sandbox.runCode("asyncio.run(later())")).value).toBe("late");
  });

  it("show the user's frames only, with their lines", async () => {
    await sandbox.runCode("def boom(n):\n    return 1 / n");
    const { error, exitCode } = await sandbox.runCode("boom(0)");
    expect(exitCode).toBe(1);
    expect(error).toMatchObject({ name: "ZeroDivisionError", message: "division by zero" });
    expect(error?.traceback).toMatch(
      /^Traceback \(most recent call last\):\n {2}File "<cell \d+>", line 1, in <module>\n {4}boom\(0\)\n.*\n {2}File "<cell \d+>", line 2, in boom\n {4}return 1 \/ n\n.*\nZeroDivisionError: division by zero\n$/s,
    );
    const asynchronous = await sandbox.runCode("async def f():\n    raise KeyError('k')\nawait f()");
    expect(asynchronous.error?.traceback).not.toMatch(/asyncio|_sandkit/);
    expect((await sandbox.runCode("a = = 1")).error).toMatchObject({ name: "SyntaxError" });
    expect((await sandbox.runCode("%pip install x")).stderr.text).toContain("packages");
  });

  it("end with the code of SystemExit and keep the state", async () => {
    expect(await sandbox.runCode("kept = 1\nraise SystemExit(3)")).toMatchObject({ exitCode: 3, stateLost: false });
    expect(await sandbox.runCode("import sys; sys.exit('text')")).toMatchObject({ exitCode: 1 });
    expect((await sandbox.runCode("kept")).value).toBe(1);
    expect((await sandbox.runCode("input()")).error?.name).toBe("EOFError");
  });

  it("stream output as it is written, without newline, in exact bytes", async () => {
    const seen: [string, number][] = [];
    const started = performance.now();
    const cell = await sandbox.runCode(
      "import time, sys\nprint('a', end='')\ntime.sleep(0.3)\nsys.stdout.buffer.write(bytes([0, 255]))\nprint('e', file=sys.stderr)",
      {
        onOutput: (chunk) =>
          void seen.push([chunk.stream + Buffer.from(chunk.bytes).toString("hex"), performance.now() - started]),
      },
    );
    expect(Buffer.from(cell.stdout.bytes).toString("hex")).toBe("6100ff");
    expect(cell.stderr.text).toBe("e\n");
    expect(seen[0]?.[0]).toBe("stdout61");
    expect((seen.at(-1)?.[1] ?? 0) - (seen[0]?.[1] ?? 0)).toBeGreaterThan(200);
  });

  it("wait for a slow consumer", async () => {
    let bytes = 0;
    const code = "n = 0\nfor n in range(5000): print('x' * 1000)";
    const cell = sandbox.runCode(code, {
      onOutput: async (chunk) => {
        bytes += chunk.bytes.length;
        await wait(20);
      },
    });
    await wait(400);
    expect(bytes).toBeLessThan(3_000_000);
    expect((await cell).stdout.totalBytes).toBe(5_005_000);
    expect(bytes).toBe(5_005_000);
  });

  it("are interrupted with their state kept, wherever they are", async () => {
    const loops = [
      "while True: pass",
      "import time; time.sleep(60)",
      "import asyncio; await asyncio.sleep(60)",
      "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')",
      "asyncio.run(asyncio.sleep(60))",
      "while True: print('flood ' * 100)",
      "await asyncio.gather(asyncio.sleep(60), asyncio.sleep(60))",
    ];
    await sandbox.runCode("import asyncio\nprecious = 42");
    for (const code of loops) {
      const cell = await sandbox.runCode(code, { timeoutMs: 300, interruptGraceMs: 5000 });
      expect({ code, reason: cell.reason, lost: cell.stateLost, name: cell.error?.name }).toEqual({
        code,
        reason: "timeout",
        lost: false,
        name: "KeyboardInterrupt",
      });
      expect(cell.error?.traceback).not.toContain("_sandkit");
    }
    expect((await sandbox.runCode("precious")).value).toBe(42);
  }, 60_000);

  it("are killed when they do not listen, and the next starts fresh with the files kept", async () => {
    const stubborn =
      "open('kept', 'w').write('file')\nstate = 1\nprint('partial', flush=True)\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass";
    const cell = await sandbox.runCode(stubborn, { timeoutMs: 300, interruptGraceMs: 200 });
    expect(cell).toMatchObject({ reason: "timeout", stateLost: true, exitCode: null });
    expect(cell.stdout.text).toBe("partial\n");
    expect((await sandbox.runCode("[open('kept').read(), 'state' in globals()]")).value).toEqual(["file", false]);
  });

  it("take a very long cell and give a very long value", async () => {
    const long = `text = '${"x".repeat(3_000_000)}'\nlen(text)`;
    expect((await sandbox.runCode(long)).value).toBe(3_000_000);
    expect((await sandbox.runCode("list(range(200000))")).value).toHaveLength(200_000);
  });

  it("write to stdout and stderr again after one that closed them", async () => {
    const closed = await sandbox.runCode("import os, sys\nprint('before')\nos.close(1)\nos.close(2)");
    expect([closed.stdout.text, closed.exitCode]).toEqual(["before\n", 0]);
    const next = await sandbox.runCode("print('after')\nprint('too', file=sys.stderr)\nopen('/tmp/n', 'w').fileno()");
    expect([next.stdout.text, next.stderr.text, next.value]).toEqual(["after\n", "too\n", 3]);
  });

  it("see modules that were written a moment ago", async () => {
    await sandbox.files.write("fresh.py", "A = 1");
    expect((await sandbox.runCode("import fresh\nfresh.A")).value).toBe(1);
    await sandbox.files.write("fresh2.py", "A = 2");
    expect((await sandbox.runCode("import fresh2\nfresh2.A")).value).toBe(2);
    expect(await sandbox.files.exists("__pycache__")).toBe(false);
  });

  it("live apart in kernels of their own", async () => {
    const other = await sandbox.kernel({ env: { WHO: "other" }, cwd: "/tmp" });
    await sandbox.runCode("shared = 1");
    expect((await other.run("import os\n['shared' in globals(), os.environ['WHO'], os.getcwd()]")).value).toEqual([
      false,
      "other",
      "/tmp",
    ]);
    await other[Symbol.asyncDispose]();
  });
});
