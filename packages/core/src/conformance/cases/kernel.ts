import { strict as assert } from "node:assert";
import { eventually, rejects } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { multibyte } from "../material.js";

/** Python cells: state, values, output, exceptions. */
export const kernelCases: readonly ConformanceCase[] = [
  {
    id: "kernel.python.state",
    title: "what a cell defines, imports and changes the next cells see",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cells = ["import math\nx = 20", "def double(n):\n    return n * 2", "double(x) + math.floor(2.5)"];
      for (const cell of cells) assert.equal((await shared.runCode(cell)).ok, true);
      assert.equal((await shared.runCode("double(x) + 2")).value, 42);
    },
  },
  {
    id: "kernel.python.value",
    title: "the last expression is the value, as JSON and as text",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cell = await shared.runCode("x = 6\nx * 7");
      assert.deepEqual(
        [cell.value, cell.exitCode, cell.reason, cell.ok, cell.stateLost],
        [42, 0, "exited", true, false],
      );
      assert.equal(cell.outputs.at(-1)?.["text/plain"], "42");
      assert.deepEqual([cell.stdout.text, cell.stderr.text, cell.error], ["", "", undefined]);
    },
  },
  {
    id: "kernel.python.value.json",
    title: "values of JSON's types come as they are",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cell = await shared.runCode(`{"a": [1, 2.5, True, None], "b": {"text": "${multibyte}"}, "c": ()}`);
      assert.deepEqual(cell.value, { a: [1, 2.5, true, null], b: { text: multibyte }, c: [] });
      assert.equal((await shared.runCode("2 ** 10")).value, 1024);
      assert.equal((await shared.runCode("'text'")).value, "text");
    },
  },
  {
    id: "kernel.python.value.other",
    title: "a value that JSON cannot hold comes as text alone",
    needs: ["kernel.python"],
    async run({ shared }) {
      for (const code of ["object()", "{1, 2}.__class__", "float('nan')", "(lambda: 0)"]) {
        const cell = await shared.runCode(code);
        assert.equal(cell.ok, true, code);
        assert.ok(
          !("value" in cell) || cell.value === undefined,
          `${code} has the value ${JSON.stringify(cell.value)}`,
        );
        assert.equal(typeof cell.outputs.at(-1)?.["text/plain"], "string", code);
      }
    },
  },
  {
    id: "kernel.python.value.none",
    title: "a cell without a last expression, or with None, has no output",
    needs: ["kernel.python"],
    async run({ shared }) {
      for (const code of ["y = 1", "None", "print(end='')", "for _ in range(3):\n    7"]) {
        const cell = await shared.runCode(code);
        assert.deepEqual([cell.ok, cell.outputs], [true, []], code);
        assert.ok(cell.value === undefined || cell.value === null, code);
      }
    },
  },
  {
    id: "kernel.python.main",
    title: "a cell runs as __main__",
    needs: ["kernel.python"],
    async run({ shared }) {
      assert.equal((await shared.runCode("__name__")).value, "__main__");
      const cell = await shared.runCode(
        "import pickle\nclass Point:\n    pass\ntype(pickle.loads(pickle.dumps(Point()))).__name__",
      );
      assert.equal(cell.value, "Point", cell.error?.traceback);
    },
  },
  {
    id: "kernel.python.empty",
    title: "empty code, blank code and a comment do nothing, well",
    needs: ["kernel.python"],
    async run({ shared }) {
      for (const code of ["", " \n\t\n", "# nothing"]) {
        const cell = await shared.runCode(code);
        assert.deepEqual([cell.ok, cell.exitCode, cell.outputs], [true, 0, []], JSON.stringify(code));
      }
    },
  },
  {
    id: "kernel.python.large-code",
    title: "1 MB of code runs",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cell = await shared.runCode(`text = """${"0123456789abcde\n".repeat(65_536)}"""\nlen(text)`);
      assert.equal(cell.value, 1_048_576, cell.error?.traceback);
    },
  },
  {
    id: "kernel.python.multibyte",
    title: "code, output and errors keep characters of every length",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cell = await shared.runCode(`grüße = "${multibyte}"\nprint(grüße * 10_000, end="")\ngrüße`);
      assert.ok(cell.stdout.text === multibyte.repeat(10_000), "printed text differs");
      assert.equal(cell.value, multibyte);
      const failed = await shared.runCode(`raise ValueError("${multibyte}")`);
      assert.equal(failed.error?.message, multibyte);
    },
  },
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
      await eventually("output before the end", () => seen === "ready\n");
      await shared.files.write(go, "");
      assert.equal((await cell).stdout.text, "ready\ndone\n");
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
    id: "kernel.python.await",
    title: "await works at the top level",
    needs: ["kernel.python"],
    async run({ shared }) {
      const cell = await shared.runCode(
        "import asyncio\nasync def later():\n    await asyncio.sleep(0.05)\n    return 5\nx = await later()\nx + await later()",
      );
      assert.equal(cell.value, 10, cell.error?.traceback);
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
  {
    id: "kernel.python.files",
    title: "cells, programs and the files interface see the same files",
    needs: ["kernel.python", "files"],
    async run({ shared, path }) {
      await shared.files.write(path("in"), multibyte);
      const cell = await shared.runCode(
        `text = open("${path("in")}", encoding="utf-8").read()\nopen("${path("out")}", "w", encoding="utf-8").write(text * 2)\nimport os\nos.getcwd()`,
      );
      assert.equal(cell.value, shared.workdir, cell.error?.traceback);
      assert.equal(await shared.files.readText(path("out")), multibyte.repeat(2));
    },
  },
  {
    id: "kernel.python.environment",
    title: "cells have the environment of the sandbox, and a kernel its own on top",
    needs: ["kernel.python"],
    async run({ sandbox }) {
      const own = await sandbox({ env: { BASE: "b'\"\n$x", BOTH: "sandbox" } });
      const code = 'import os\n[os.environ.get("BASE"), os.environ.get("BOTH")]';
      assert.deepEqual((await own.runCode(code)).value, ["b'\"\n$x", "sandbox"]);
      const kernel = await own.kernel({ env: { BOTH: "kernel" } });
      assert.deepEqual((await kernel.run(code)).value, ["b'\"\n$x", "kernel"]);
    },
  },
  {
    id: "kernel.undeclared-language",
    title: "a language without a kernel is UNSUPPORTED, and the message says so",
    needs: ["kernel.python"],
    without: ["kernel.bash"],
    async run({ shared }) {
      await rejects(shared.runCode("true", { language: "bash" }), "UNSUPPORTED", "bash");
    },
  },
];
