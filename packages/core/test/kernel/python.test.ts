import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RunningKernel } from "./running-kernel.js";

/** The interpreter under test: one with IPython and the libraries for figures tries what is skipped without them. */
const python = process.env.SANDKIT_TEST_PYTHON ?? "python3";

const imports = (module: string) => {
  try {
    execFileSync(python, ["-c", `import ${module}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

const drivers: readonly { name: string; env: Record<string, string>; there: boolean }[] = [
  { name: "plain", env: { SANDKIT_KERNEL: "plain" }, there: true },
  { name: "IPython", env: {}, there: imports("IPython") },
];

for (const { name, env, there } of drivers) {
  const title = there ? `python kernel, ${name}` : `python kernel, ${name} (skipped: ${python} has no IPython)`;
  describe.skipIf(!there)(title, () => {
    const cwd = mkdtempSync(join(tmpdir(), "sandkit-kernel-"));
    let kernel: RunningKernel;
    beforeAll(async () => {
      kernel = await RunningKernel.start({ language: "python", cwd }, { python3: python }, env);
    });
    afterAll(() => kernel[Symbol.asyncDispose]());

    it("gives the value of the last expression, and hides it after a semicolon", async () => {
      expect(await kernel.run("x = 6\nx * 7")).toMatchObject({
        exitCode: 0,
        value: 42,
        outputs: [{ "text/plain": "42" }],
      });
      expect(await kernel.run("_ + 1")).toMatchObject({ value: 43 });
      expect((await kernel.run("x;")).outputs).toEqual([]);
    });

    it("shows what has forms, in order, the value last", async () => {
      const { outputs } = await kernel.run(
        "class Table:\n    def _repr_html_(self): return '<b>t</b>'\n    def __repr__(self): return 't'\ndisplay(Table())\ndisplay('a')\n[1] * 50",
      );
      expect(outputs.slice(0, 2)).toEqual([{ "text/plain": "t", "text/html": "<b>t</b>" }, { "text/plain": "'a'" }]);
      expect(outputs[2]).toEqual({ "text/plain": `[${Array(50).fill(1).join(", ")}]` });
    });

    it("tells of an exception with the frames of the user alone", async () => {
      const { exitCode, error } = await kernel.run("async def f():\n    return 1 / 0\nawait f()");
      expect([exitCode, error?.name, error?.message]).toEqual([1, "ZeroDivisionError", "division by zero"]);
      expect(error?.traceback.match(/^ {2}File .*/gm)).toEqual([
        expect.stringMatching(/<cell \d+>", line 3/),
        expect.stringMatching(/<cell \d+>", line 2, in f/),
      ]);
      expect(await kernel.run("exit(4)")).toMatchObject({ exitCode: 4 });
      expect(await kernel.run("x")).toMatchObject({ value: 6 });
    });

    it("tells of an exception where its directory has been removed", async () => {
      await kernel.run("import os\nhome = os.getcwd()\nos.mkdir('gone')\nos.chdir('gone')\nos.rmdir('../gone')");
      const { error } = await kernel.run("1 / 0");
      expect(error?.traceback).toMatch(/^Traceback .*\n {2}File "<cell \d+>", line 1/);
      expect(await kernel.run("async def one(): return 1\nawait one()")).toMatchObject({ value: 1 });
      await kernel.run("os.chdir(home)");
    });

    it("is interrupted with its state kept, whatever it waits for", async () => {
      for (const code of [
        "while True: pass",
        "import time; time.sleep(50)",
        "import asyncio; await asyncio.sleep(50)",
        "async def spin():\n    while True: pass\nawait spin()",
        "import subprocess; subprocess.run(['sleep', '50'])",
        "!sleep 50\nwhile True: pass",
      ]) {
        const cell = await kernel.interrupted(`print("on")\n${code}`);
        expect([code, cell.exitCode, cell.error?.name]).toEqual([code, 1, "KeyboardInterrupt"]);
      }
      expect(await kernel.run("x")).toMatchObject({ value: 6 });
    });

    it("leaves nothing of an awaited task that an interrupt hit before it began", async () => {
      await kernel.run(
        "import asyncio, signal\nloop = asyncio.get_event_loop()\nmake = loop.create_task\ndef odd(coroutine, **rest):\n    task = make(coroutine, **rest)\n    loop.create_task = make\n    signal.raise_signal(signal.SIGINT)\n    return task\nloop.create_task = odd",
      );
      const cell = await kernel.run("async def spin():\n    while True: pass\nawait spin()");
      expect(cell.error?.name).toBe("KeyboardInterrupt");
      expect(await kernel.run("x")).toMatchObject({ value: 6 });
    });

    it("is not hit by an interrupt that comes between cells", async () => {
      for (let turn = 0; turn < 20; turn++) {
        const cell = kernel.run(`${turn}`);
        await kernel.kernel.interrupt();
        expect((await cell).died).toBeUndefined();
        expect(await kernel.run("x")).toMatchObject({ value: 6 });
      }
    });

    it("runs shell commands and magics", async () => {
      expect(await kernel.run("name = 'me'\n!echo {name} $name\nlines = !printf 'a\\nb\\n'\nlines")).toMatchObject({
        stdout: "me me\n",
        value: ["a", "b"],
      });
      expect(await kernel.run("%matplotlib inline\n%nothing")).toMatchObject({ error: { name: "UsageError" } });
      expect(await kernel.run("%%bash\necho $((1 + 1))")).toMatchObject({ exitCode: 0, stdout: "2\n" });
    });

    it("has no input, and says so", async () => {
      expect(await kernel.run("input('name? ')")).toMatchObject({ error: { name: "EOFError" } });
      expect(await kernel.run("import sys; sys.stdin.read()")).toMatchObject({ value: "" });
    });

    it("keeps forks and their children away from the host", async () => {
      const fork =
        "import os\npid = os.fork()\nif pid == 0:\n    display('child')\nelse:\n    os.waitpid(pid, 0)\n    print('parent')";
      expect(await kernel.run(fork)).toMatchObject({ exitCode: 0, stdout: "'child'\nparent\n", outputs: [] });
      const pool =
        "import multiprocessing\ndef square(n): return n * n\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n    squares = pool.map(square, [1, 2])\nsquares";
      expect(await kernel.run(pool)).toMatchObject({ value: [1, 4] });
      // A fork of a fork keeps what the first one has opened under the numbers that were the host's.
      const twice =
        "import os\npid = os.fork()\nif pid == 0:\n    files = [os.open('/dev/null', os.O_RDONLY) for _ in range(2)]\n    pid = os.fork()\n    if pid == 0:\n        [os.fstat(file) for file in files]\n        print('open')\nif pid:\n    os.waitpid(pid, 0)\n'done';";
      expect(await kernel.run(twice)).toMatchObject({ exitCode: 0, stdout: "open\n", stderr: "" });
    });

    it("writes to stdout and stderr again after a cell that closed them", async () => {
      const closed = await kernel.run("import os, sys\nprint('before')\nos.close(1)\nos.close(2)");
      expect(closed).toMatchObject({ exitCode: 0, stdout: "before\n" });
      const next = await kernel.run("print('after')\nprint('too', file=sys.stderr)\nos.system('echo program')");
      expect(next).toMatchObject({ stdout: "after\nprogram\n", stderr: "too\n", value: 0 });
    });

    it("goes on with tasks and threads between cells, whose output the next cell has", async () => {
      await kernel.run(
        "import asyncio\nasync def later():\n    await asyncio.sleep(0.01)\n    print('late')\ntask = asyncio.get_event_loop().create_task(later())",
      );
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(await kernel.run("task.done()")).toMatchObject({ value: true, stdout: "late\n" });
    });

    it("imports what was written a moment ago, and is not led astray by files of the user", async () => {
      writeFileSync(join(cwd, "traceback.py"), "raise RuntimeError('mine')");
      writeFileSync(join(cwd, "fresh.py"), "value = 5");
      expect(await kernel.run("import fresh; fresh.value")).toMatchObject({ value: 5 });
    });

    it.skipIf(!imports("matplotlib"))("shows figures of matplotlib at `show` and at the end of the cell", async () => {
      const { outputs } = await kernel.run(
        "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()\ndisplay('between')\nplt.figure()\nplt.plot([2])\n'value'",
      );
      expect(outputs.map((forms) => Object.keys(forms).at(-1))).toEqual([
        "image/png",
        "text/plain",
        "image/png",
        "text/plain",
      ]);
    });

    it.skipIf(!imports("plotly, numpy, PIL"))(
      "shows figures of plotly and images, and gives arrays as lists",
      async () => {
        const { outputs } = await kernel.run("import plotly.graph_objects as go\ngo.Figure(data=go.Bar(y=[1])).show()");
        expect(outputs[0]).toHaveProperty(["application/vnd.plotly.v1+json", "data"]);
        expect((await kernel.run("from PIL import Image\nImage.new('RGB', (2, 2))")).outputs[0]).toHaveProperty([
          "image/png",
        ]);
        expect(await kernel.run("import numpy as np\nnp.arange(3)")).toMatchObject({ value: [0, 1, 2] });
      },
    );

    it.skipIf(!imports("plotly, kaleido"))("draws figures of plotly where kaleido is there", async () => {
      const { outputs } = await kernel.run("import plotly.graph_objects as go\ngo.Figure(data=go.Bar(y=[1]))");
      expect(outputs[0]).toMatchObject({ "image/png": expect.stringMatching(/^iVBOR/) });
    });

    it("outlives what makes a cell's end odd", async () => {
      expect(await kernel.run("kept = 1\nclass C:\n  def __str__(self): 1/0\nraise SystemExit(C())")).toMatchObject({
        exitCode: 1,
      });
      const code = "class N(int):\n  def __and__(self, other): return 'x'\nraise SystemExit(N(5))";
      expect(await kernel.run(code)).toMatchObject({ exitCode: 5 });
      const named =
        "class M(type): __name__ = property(lambda self: 5)\nclass E(Exception, metaclass=M): pass\nraise E('x')";
      expect(await kernel.run(named)).toMatchObject({ exitCode: 1, error: { name: "E", message: "x" } });
      await kernel.run("import sys\nout = sys.__stdout__\ndel sys.__stdout__");
      await kernel.run("sys.__stdout__ = out\nclass F:\n  def invalidate_caches(self): 1/0\nsys.meta_path.append(F())");
      expect(await kernel.run("kept, type(sys.meta_path.pop()).__name__")).toMatchObject({ value: [1, "F"] });
    });

    it("tells of its own death", async () => {
      expect(await kernel.run("print('last')\nimport os\nos._exit(3)")).toMatchObject({
        exitCode: null,
        died: "crashed",
        stdout: "last\n",
        error: { message: expect.stringContaining("exit code 3") },
      });
    });
  });
}

describe("a python driver that is not to be believed", () => {
  it("is ended when it breaks the protocol or floods", async () => {
    for (const line of [
      '"nothing"',
      '{"id":77,"done":{"exitCode":0}}',
      '{"id":1,"done":{"exitCode":300}}',
      "[".repeat(5000),
    ]) {
      await using kernel = await RunningKernel.start(
        { language: "python" },
        { python3: python },
        { SANDKIT_KERNEL: "plain" },
      );
      const cell = await kernel.run(`import os, time\nos.write(4, b'''${line}\\n''')\ntime.sleep(50)`);
      expect([line, cell.died, cell.error?.message]).toEqual([line, "crashed", expect.stringContaining("protocol")]);
    }
    await using kernel = await RunningKernel.start(
      { language: "python" },
      { python3: python },
      { SANDKIT_KERNEL: "plain" },
    );
    expect(await kernel.run("import os\nwhile True: os.write(4, b'x' * 65536)")).toMatchObject({ died: "crashed" });
  });

  it.each([
    "os.close(3)",
    "os.dup2(os.open('/dev/null', os.O_RDONLY), 3)",
    "os.dup2(os.pipe()[0], 3)",
    "os.dup2(1, 4)",
    "import resource; resource.setrlimit(resource.RLIMIT_AS, (1, 1))",
    "import builtins; builtins.len = None",
  ])("is ended when it cannot be heard or told any more: %s", async (cut) => {
    await using kernel = await RunningKernel.start(
      { language: "python" },
      { python3: python },
      { SANDKIT_KERNEL: "plain" },
    );
    const first = await kernel.run(`import os\n${cut}`);
    const { died } = first.died ? first : await kernel.run("1");
    expect(died).toBe("crashed");
  });

  it("cannot plant a prototype", async () => {
    await using kernel = await RunningKernel.start(
      { language: "python" },
      { python3: python },
      { SANDKIT_KERNEL: "plain" },
    );
    const cell = await kernel.run('{"__proto__": {"a": 1}, "b": 2}');
    expect(Object.getOwnPropertyNames(cell.value)).toEqual(["b"]);
  });

  it("is told as missing, with what to do", async () => {
    const start = RunningKernel.start({ language: "python" }, { python3: "no-such-python" });
    await expect(start).rejects.toMatchObject({
      code: "KERNEL_UNAVAILABLE",
      message: expect.stringContaining("template"),
    });
  });
});
