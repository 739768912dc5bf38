import { strict as assert } from "node:assert";
import { eventually, settled, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";

/** What Python cells write, display and raise. */
export const kernelOutputCases: readonly ConformanceCase[] = [
  {
    id: "kernel.python.streams",
    title: "print and sys.stderr go to their own stream",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cell = await shared.runCode(
        'import sys\nprint("out")\nprint("err", file=sys.stderr)\nsys.stdout.write("o")',
      );
      assert.deepEqual([cell.stdout.text, cell.stderr.text], ["out\no", "err\n"]);
    },
  },
  {
    id: "kernel.python.streaming",
    title: "output is seen while the cell runs",
    needs: ["kernel.python", "files"],
    async run({ shared, path }) {
      const go = path("go");
      let seen = "";
      const cell = shared.runCode(
        `import os, time\nprint("ready", flush=True)\nwhile not os.path.exists("${go}"): time.sleep(0.05)\nprint("done")`,
        {
          timeoutMs: 20_000,
          onOutput: ({ text }) => {
            seen += text;
          },
        },
      );
      const ready = eventually("output before the end", () => seen === "ready\n");
      const [{ stdout }] = await Promise.all([cell, ready.then(() => shared.files.write(go, ""))]);
      assert.equal(stdout.text, "ready\ndone\n");
    },
  },
  {
    id: "kernel.python.back-pressure",
    title: "a slow listener holds the cell up",
    needs: ["kernel.python", "files"],
    async run({ shared, path }) {
      const progress = path("progress");
      let release = () => {};
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const code = [
        "for _ in range(512):",
        '    print("x" * 65_536, end="", flush=True)',
        `    with open("${progress}", "a") as file: file.write(".")`,
      ].join("\n");
      const cell = shared.runCode(code, { onOutput: () => gate });
      // A check that fails before the cell is awaited is the failure to show.
      cell.catch(() => undefined);
      try {
        await eventually("some progress", () => shared.files.exists(progress));
        const blocks = await settled(async () => (await shared.files.stat(progress)).size);
        assert.ok(blocks < 384, `${blocks} of 512 blocks of 64 KiB were written though nobody took them`);
      } finally {
        release();
      }
      assert.equal((await within(25_000, "the cell", cell)).stdout.totalBytes, 512 * 65_536);
    },
  },
  {
    id: "kernel.python.output-limit",
    title: "of more output of a cell than the limit head and tail are kept, and all of it is counted",
    needs: ["kernel.python"],
    async run({ shared }) {
      const { stdout } = await shared.runCode('print("HEAD" + "x" * 5_000_000 + "TAIL", end="")', {
        maxOutputBytes: 1_000,
      });
      assert.deepEqual([stdout.totalBytes, stdout.bytes.length, stdout.truncated], [5_000_008, 1_000, true]);
      assert.ok(stdout.text.startsWith("HEADx") && stdout.text.endsWith("xTAIL"));
    },
  },
  {
    id: "kernel.python.input",
    title: "reading input finds its end at once",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cell = await shared.runCode("input()", { timeoutMs: 20_000 });
      assert.deepEqual([cell.reason, cell.error?.name], ["exited", "EOFError"]);
    },
  },
  {
    id: "kernel.python.display",
    title: "display shows objects in their richest forms, in order, before the value",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cell = await shared.runCode(
        [
          "class Table:",
          "    def _repr_html_(self): return '<b>table</b>'",
          "    def __repr__(self): return 'a table'",
          "class Picture:",
          "    def _repr_png_(self): return b'\\x89PNG'",
          "display(Table())",
          "display('text')",
          "Picture()",
        ].join("\n"),
      );
      assert.equal(cell.outputs.length, 3, cell.error?.traceback);
      const [table, , picture] = cell.outputs;
      assert.deepEqual([table?.["text/html"], table?.["text/plain"]], ["<b>table</b>", "a table"]);
      assert.equal(picture?.["image/png"], Buffer.from("\x89PNG", "latin1").toString("base64"));
    },
  },
  {
    id: "kernel.python.exception",
    title: "an exception is a result, with name, message and the frames of the user alone",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cell = await shared.runCode("def inner():\n    return 1 / 0\n\nprint('before')\ninner()");
      assert.deepEqual([cell.exitCode, cell.reason, cell.ok, cell.stateLost], [1, "exited", false, false]);
      assert.equal(cell.error?.name, "ZeroDivisionError");
      assert.equal(cell.error?.message, "division by zero");
      const traceback = cell.error?.traceback ?? "";
      assert.ok(traceback.includes("in inner") && traceback.includes("return 1 / 0"), traceback);
      assert.equal(traceback.match(/^ {2}File /gm)?.length, 2, `other frames than the user's two:\n${traceback}`);
      assert.equal(cell.stdout.text, "before\n");
      assert.equal((await shared.runCode("inner.__name__")).value, "inner");
    },
  },
  {
    id: "kernel.python.exception.chained",
    title: "the traceback of a chained exception shows both, with the frames of the user alone",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cell = await shared.runCode(
        "try:\n    {}['a']\nexcept KeyError as e:\n    raise RuntimeError('outer') from e",
      );
      const traceback = cell.error?.traceback ?? "";
      assert.equal(cell.error?.name, "RuntimeError");
      assert.ok(traceback.includes("KeyError: 'a'") && traceback.includes("RuntimeError: outer"), traceback);
      assert.equal(traceback.match(/^ {2}File /gm)?.length, 2, `other frames than the user's two:\n${traceback}`);
    },
  },
  {
    id: "kernel.python.syntax-error",
    title: "a syntax error is an exception that shows the line, and nothing of the cell runs",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cell = await shared.runCode("print('first')\nif True print('second')");
      assert.deepEqual([cell.exitCode, cell.error?.name, cell.stdout.text], [1, "SyntaxError", ""]);
      assert.ok(cell.error?.traceback.includes("if True print('second')"), cell.error?.traceback);
    },
  },
  {
    id: "kernel.python.system-exit",
    title: "SystemExit gives its code and keeps the interpreter",
    needs: ["kernel.python"],
    async run({ shared }) {
      await shared.runCode("kept = 1");
      for (const [code, exitCode] of [
        ["import sys\nsys.exit(3)", 3],
        ["raise SystemExit", 0],
        ["exit(0)", 0],
      ] as const) {
        const cell = await shared.runCode(code);
        assert.deepEqual([cell.exitCode, cell.reason, cell.stateLost], [exitCode, "exited", false], code);
      }
      assert.equal((await shared.runCode("kept")).value, 1);
    },
  },
];
