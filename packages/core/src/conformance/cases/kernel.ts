import { strict as assert } from "node:assert";
import { rejects } from "../assertions.js";
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
