import { setTimeout } from "node:timers/promises";
import { type CellOptions, type CellResult, createSandbox, type Kernel, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { docker } from "../src/index.js";
import { describeOnEngine, testImages } from "./engine.js";

const png = { "text/plain": expect.any(String), "image/png": expect.stringMatching(/^iVBORw0KGgo/) };
const figure = { ...png, "text/plain": expect.stringMatching(/^<Figure size/) };

describeOnEngine("kernels in a container", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    const resources = { memoryMiB: 1024, cpus: 2 };
    sandbox = await createSandbox(docker({ images: testImages }), { template: "data", resources });
  });
  afterAll(() => sandbox?.destroy());

  describe.each([
    { driver: "IPython", env: undefined },
    { driver: "plain", env: { SANDKIT_KERNEL: "plain" } },
  ])("python, $driver", ({ driver, env }) => {
    let kernel: Kernel;
    const run = (code: string, options: CellOptions = {}): Promise<CellResult> => kernel.run(code, options);

    /** A cell that has to end by itself without an exception. */
    async function ran(code: string): Promise<CellResult> {
      const cell = await run(code);
      expect([cell.reason, cell.error, cell.stderr.text]).toEqual(["exited", undefined, ""]);
      return cell;
    }

    /** Interrupts a cell that has printed a line, and gives its result. */
    async function interrupted(code: string): Promise<CellResult> {
      let begun = () => {};
      const printed = new Promise<void>((resolve) => {
        begun = resolve;
      });
      // A call into numpy is not cut short: the interrupt comes after it.
      const cell = run(`print("on")\n${code}`, { onOutput: () => begun(), interruptGraceMs: 10_000 });
      await Promise.race([printed, cell]);
      // Into the call itself.
      await setTimeout(200);
      await kernel.interrupt();
      return cell;
    }

    beforeAll(async () => {
      kernel = await sandbox.kernel({ language: "python", env });
    });
    afterAll(() => kernel?.[Symbol.asyncDispose]());

    it("is the one that was asked for", async () => {
      expect((await run("import sys; 'IPython' in sys.modules")).value).toBe(driver === "IPython");
    });

    it("shows figures of matplotlib once each, with and without `show`, and none that was only saved", async () => {
      const { outputs } = await ran("import matplotlib.pyplot as plt\nplt.plot([1, 2])");
      expect(outputs).toEqual([figure, { "text/plain": expect.stringContaining("Line2D") }]);
      expect((await ran("plt.plot([1]); plt.show()")).outputs).toEqual([figure]);
      expect((await ran("for n in 1, 2:\n    plt.figure()\n    plt.plot([n])")).outputs).toEqual([figure, figure]);
      expect((await ran("plt.plot([1])\nplt.savefig('saved.png')\nplt.close()")).outputs).toEqual([]);
      expect((await ran("fig, ax = plt.subplots()\nax.plot([1])\nfig")).outputs).toEqual([figure]);
      expect((await ran("ax.plot([2])\nfig")).outputs).toEqual([figure]);
      expect((await sandbox.exec("head -c 4 saved.png | tail -c 3")).stdout.text).toBe("PNG");
    });

    it("shows figures of seaborn and plotly, and images of Pillow", async () => {
      const seaborn = await run("import seaborn\nseaborn.barplot(x=['a', 'b'], y=[1, 2])");
      expect(seaborn.outputs).toEqual([figure, { "text/plain": expect.stringContaining("Axes") }]);
      for (const show of ["px.bar(x=[1], y=[2])", "px.bar(x=[1], y=[2]).show()"]) {
        const { outputs } = await run(`import plotly.express as px\n${show}`);
        const { "application/vnd.plotly.v1+json": drawn, "text/html": html } = outputs[0] ?? {};
        expect([outputs.length, drawn]).toEqual([1, expect.objectContaining({ data: [expect.anything()] })]);
        expect(html).toContain("<div");
      }
      expect((await ran("from PIL import Image\nImage.new('RGB', (2, 2))")).outputs).toEqual([png]);
    });

    it("gives tables in three forms, arrays as lists, and what is too large for that in words", async () => {
      const table = await ran("import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': ['x', None]})");
      expect(table.outputs).toEqual([
        { "text/plain": expect.stringContaining("a"), "text/html": expect.stringContaining("<table") },
      ]);
      expect(table.value).toEqual([
        { a: 1, b: "x" },
        { a: 2, b: null },
      ]);
      expect((await ran("import numpy as np\nnp.arange(4).reshape(2, 2)")).value).toEqual([
        [0, 1],
        [2, 3],
      ]);
      expect((await ran("np.float64(1.5)")).value).toBe(1.5);
      const large = await ran("np.zeros(10**8, dtype='uint8')");
      expect([large.value, large.outputs]).toEqual([
        undefined,
        [{ "text/plain": "array([0, 0, 0, ..., 0, 0, 0], shape=(100000000,), dtype=uint8)" }],
      ]);
    });

    it("shows formulas, and what IPython has for display", async () => {
      const { outputs } = await ran("import sympy\nx = sympy.symbols('x')\nsympy.Integral(x**2, x)");
      expect(outputs).toEqual([{ "text/plain": "Integral(x**2, x)", "text/latex": expect.stringContaining("\\int") }]);
      const shown = await ran(
        [
          "from IPython.display import HTML, Image, Markdown, display, clear_output",
          "display(Markdown('**m**'), HTML('<b>h</b>'))",
          "clear_output()",
          "display({'text/plain': 'raw', 'text/html': '<i>r</i>'}, raw=True)",
          "Image('saved.png')",
        ].join("\n"),
      );
      expect(shown.outputs).toEqual([
        expect.objectContaining({ "text/markdown": "**m**" }),
        expect.objectContaining({ "text/html": "<b>h</b>" }),
        { "text/plain": "raw", "text/html": "<i>r</i>" },
        expect.objectContaining({ "image/png": png["image/png"] }),
      ]);
      expect(shown.stdout.text).toBe("");
    });

    it("runs shell commands, pip and measurements", async () => {
      const command = await run("!echo out; echo err >&2\nlines = !printf 'a\\nb\\n'\nlines");
      expect([command.stdout.text, command.stderr.text, command.value]).toEqual(["out\n", "err\n", ["a", "b"]]);
      expect((await ran("%pip --version")).stdout.text).toMatch(/^pip \d+/);
      expect((await ran("%timeit -n 10 -r 2 sum(range(10))")).stdout.text).toMatch(/ per loop .*2 runs.*10 loops/);
    });

    it("awaits at the top level, and refuses input", async () => {
      expect((await ran("import asyncio\nawait asyncio.sleep(0, 'awaited')")).value).toBe("awaited");
      expect((await ran("async def numbers():\n    yield 1\n[n async for n in numbers()]")).value).toEqual([1]);
      expect((await run("input('name? ')")).error).toMatchObject({ name: "EOFError" });
    });

    it("gives the code of a SystemExit and lives on", async () => {
      await ran("kept = 6");
      expect(await run("import sys; sys.exit(3)")).toMatchObject({ exitCode: 3, ok: false, stateLost: false });
      const said = await run("sys.exit('said')");
      expect([said.exitCode, said.stderr.text]).toEqual([1, "said\n"]);
      expect((await ran("kept")).value).toBe(6);
    });

    it("runs pools of processes that know what cells have defined", async () => {
      await ran("def square(n): return n * n");
      expect(
        (await ran("from multiprocessing import Pool\nwith Pool(2) as p: r = p.map(square, [2, 3])\nr")).value,
      ).toEqual([4, 9]);
      const executor =
        "from concurrent.futures import ProcessPoolExecutor\nwith ProcessPoolExecutor(2) as p: r = list(p.map(square, [4]))\nr";
      expect((await ran(executor)).value).toEqual([16]);
    });

    it("is interrupted with its state kept, whatever it waits for", async () => {
      await ran(
        "kept = 6\nimport subprocess, threading, time\nfrom multiprocessing import Pool\nimport numpy as np\nimport pandas as pd",
      );
      for (const code of [
        "a = np.random.rand(200, 200)\nwhile True: np.linalg.svd(a)",
        "while True: pd.DataFrame(np.random.rand(100, 10)).describe()",
        "subprocess.run(['sleep', '50'])",
        "!sleep 50\ntime.sleep(50)",
        "time.sleep(50)",
        "threading.Event().wait()",
        "with Pool(2) as p: p.map(time.sleep, [50, 50])",
      ]) {
        const { exitCode, stateLost, error } = await interrupted(code);
        expect([code, exitCode, stateLost, error?.name]).toEqual([code, 1, false, "KeyboardInterrupt"]);
      }
      expect((await ran("kept")).value).toBe(6);
    });

    it("keeps count of 100 MB for a reader that is slower, and memory bounded", { timeout: 60_000 }, async () => {
      let [seen, most] = [0, 0];
      const before = process.memoryUsage().rss;
      const cell = await run("line = 'x' * 9_999\nfor _ in range(10_000): print(line)", {
        maxOutputBytes: 1_000,
        onOutput: async ({ bytes }) => {
          seen += bytes.length;
          most = Math.max(most, process.memoryUsage().rss - before);
          if (seen < 1_000_000) await setTimeout(5);
        },
      });
      expect([cell.exitCode, cell.stdout.totalBytes, seen]).toEqual([0, 1e8, 1e8]);
      expect(most).toBeLessThan(64 * 1024 * 1024);
    });

    it("tells the truth of an interpreter that ended itself", async () => {
      await ran("kept = 6");
      const cell = await run("import os\nprint('last')\nos._exit(7)");
      expect([cell.reason, cell.exitCode, cell.stateLost, cell.stdout.text]).toEqual([
        "signaled",
        null,
        true,
        "last\n",
      ]);
      expect(cell.error?.message).toContain("exit code 7");
      expect((await run("kept")).error).toMatchObject({ name: "NameError" });
    });

    it("tells of memory that ran out, and starts anew", async () => {
      await ran("kept = 6");
      const cell = await run("hoard = []\nwhile True: hoard.append(bytearray(10_000_000))", { timeoutMs: 30_000 });
      expect([cell.reason, cell.exitCode, cell.ok, cell.stateLost]).toEqual(["oom", null, false, true]);
      expect((await run("'kept' in globals()")).value).toBe(false);
    });
  });

  describe("bash", () => {
    let kernel: Kernel;
    async function run(code: string, options: CellOptions = {}) {
      const { exitCode, stdout, stderr, stateLost } = await kernel.run(code, options);
      expect(stateLost).toBe(false);
      return [exitCode, stdout.text, stderr.text];
    }
    beforeAll(async () => {
      kernel = await sandbox.kernel({ language: "bash" });
    });
    afterAll(() => kernel?.[Symbol.asyncDispose]());

    it("keeps its state, through failures and exits", async () => {
      expect(await run("set -euo pipefail\nkept=6\ncd /tmp\ntwice() { echo $(($1 * 2)); }")).toEqual([0, "", ""]);
      expect(await run('echo "a$nothing"; echo b')).toEqual([1, "", expect.stringContaining("nothing: unbound")]);
      expect(await run("echo a; false | cat; echo b")).toEqual([1, "a\n", ""]);
      expect(await run("exit 4")).toEqual([4, "", ""]);
      expect(await run("twice $kept; pwd")).toEqual([0, "12\n/tmp\n", ""]);
    });

    it("is interrupted with its state kept", async () => {
      const cell = run("echo on; sleep 50; echo after");
      await setTimeout(200);
      await kernel.interrupt();
      expect(await cell).toEqual([130, "on\n", expect.stringMatching(/^\n?$/)]);
      expect(await run("twice $kept")).toEqual([0, "12\n", ""]);
    });

    it("sees the files of the sandbox", async () => {
      await sandbox.files.write("/workspace/data.txt", "b\na\n");
      expect(await run("sort /workspace/data.txt")).toEqual([0, "a\nb\n", ""]);
    });
  });
});
