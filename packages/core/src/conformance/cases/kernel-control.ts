import { strict as assert } from "node:assert";
import type { Kernel } from "../../kernel/kernel.js";
import type { Sandbox } from "../../sandbox.js";
import { eventually, failure, within } from "../assertions.js";
import type { ConformanceCase } from "../conformance-case.js";
import { beats, silent } from "../heartbeat.js";

// Not `while True: pass`: in CPython 3.11 an interrupt there is raised outside of the `try` around it.
const stubborn = "while True:\n    try:\n        for _ in iter(int, 1): pass\n    except BaseException: pass";

/** Cannot be interrupted either, and beats in a file for as long as it lives. */
const stubbornBeat = (file: string) =>
  `import time
while True:
    try:
        while True:
            with open("${file}", "a") as beat: beat.write(".")
            time.sleep(0.05)
    except BaseException: pass`;

/** Signals by a file that a cell has started, which is then busy with `code`. */
const startedIn = (file: string, code: string) => `open("${file}", "w").close()\n${code}`;

const started = (sandbox: Sandbox, file: string) =>
  eventually("the cell has started", () => sandbox.files.exists(file), 20_000);

/** Python cells that must be stopped, queued or kept apart. */
export const kernelControlCases: readonly ConformanceCase[] = [
  {
    id: "kernel.interrupt",
    title: "interrupt stops the running cell and keeps the state",
    needs: ["kernel.python", "kernel.interrupt", "files"],
    async run({ shared, path }) {
      const kernel = await shared.kernel();
      await kernel.run("kept = 7");
      for (const [name, code] of [
        ["loop", "while True: pass"],
        ["sleep", "import time\ntime.sleep(60)"],
        ["await", "import asyncio\nawait asyncio.sleep(60)"],
      ] as const) {
        const cell = kernel.run(startedIn(path(name), code));
        await started(shared, path(name));
        assert.deepEqual(await within(10_000, `interrupt of ${name}`, kernel.interrupt()), { stateLost: false });
        const { error, stateLost } = await within(10_000, `the cell with ${name}`, cell);
        assert.deepEqual([name, error?.name, stateLost], [name, "KeyboardInterrupt", false]);
      }
      assert.equal((await kernel.run("kept")).value, 7);
      await close(kernel);
    },
  },
  {
    id: "kernel.interrupt.idle",
    title: "interrupting a kernel that runs nothing changes nothing",
    needs: ["kernel.python", "kernel.interrupt"],
    async run({ shared }) {
      const kernel = await shared.kernel();
      await kernel.run("kept = 7");
      assert.deepEqual(await kernel.interrupt(), { stateLost: false });
      assert.equal((await kernel.run("kept")).value, 7);
      await close(kernel);
    },
  },
  {
    id: "kernel.timeout",
    title: "a timeout interrupts the cell and keeps the state",
    needs: ["kernel.python", "kernel.interrupt"],
    reports: ["pyodide/pyodide#676", "pyodide/pyodide#4537", "strukto-ai/mirage#156"],
    async run({ shared }) {
      const kernel = await shared.kernel();
      await kernel.run("kept = 7");
      const cell = await within(
        20_000,
        "the cell",
        kernel.run("print('so far')\nwhile True: pass", { timeoutMs: 500 }),
      );
      assert.deepEqual([cell.reason, cell.exitCode, cell.ok], ["timeout", null, false]);
      assert.equal(cell.stdout.text, "so far\n");
      assert.equal(cell.stateLost, false);
      assert.equal((await kernel.run("kept")).value, 7);
      await close(kernel);
    },
  },
  {
    id: "kernel.timeout.stubborn",
    title: "a cell that does not let itself be interrupted loses its interpreter, and says so",
    needs: ["kernel.python"],
    reports: ["strukto-ai/mirage#669"],
    async run({ shared }) {
      const kernel = await shared.kernel();
      await kernel.run("kept = 7");
      const run = kernel.run(`print("so far", flush=True)\n${stubborn}`, { timeoutMs: 500, interruptGraceMs: 300 });
      const cell = await within(20_000, "the cell", run);
      assert.deepEqual([cell.reason, cell.exitCode, cell.stateLost], ["timeout", null, true]);
      assert.equal(cell.stdout.text, "so far\n");
      const next = await kernel.run("'kept' in globals()");
      assert.deepEqual([next.value, next.stateLost], [false, false]);
      await close(kernel);
    },
  },
  {
    id: "kernel.timeout.truthful",
    title: "stateLost says exactly whether the state is lost",
    needs: ["kernel.python"],
    async run({ shared }) {
      const kernel = await shared.kernel();
      for (const code of ["import time\ntime.sleep(60)", "sum(range(10**12))", stubborn]) {
        await kernel.run("kept = 7");
        const { stateLost } = await within(20_000, code, kernel.run(code, { timeoutMs: 400, interruptGraceMs: 400 }));
        assert.equal((await kernel.run("'kept' in globals()")).value, !stateLost, `after ${code}`);
      }
      await close(kernel);
    },
  },
  {
    id: "kernel.abort",
    title: "an abort ends the cell like a timeout; one before the start runs nothing",
    needs: ["kernel.python", "files"],
    async run({ shared, path }) {
      const kernel = await shared.kernel();
      const stop = new AbortController();
      const cell = kernel.run(startedIn(path("on"), "while True: pass"), { signal: stop.signal });
      await started(shared, path("on")).finally(() => stop.abort());
      assert.equal((await within(20_000, "the cell", cell)).reason, "aborted");
      const code = `open("${path("ran")}", "w").close()`;
      const never = await kernel.run(code, { signal: AbortSignal.abort() });
      assert.deepEqual([never.reason, never.exitCode, never.stateLost], ["aborted", null, false]);
      assert.equal(await shared.files.exists(path("ran")), false);
      await close(kernel);
    },
  },
  {
    id: "kernel.restart",
    title: "restart gives a fresh interpreter and ends what runs",
    needs: ["kernel.python", "files"],
    async run({ shared, path }) {
      const kernel = await shared.kernel();
      await kernel.run("mine = 1");
      const cell = kernel.run(stubbornBeat(path("beat")));
      await beats(shared, path("beat"));
      const [ended] = await within(20_000, "restart", Promise.all([cell, kernel.restart()]));
      await silent(shared, path("beat"));
      assert.deepEqual([ended.ok, ended.stateLost], [false, true]);
      assert.equal((await kernel.run("'mine' in globals()")).value, false);
      await close(kernel);
    },
  },
  {
    id: "kernel.close",
    title: "closing a kernel ends what runs in it, and leaves the others alone",
    needs: ["kernel.python", "files"],
    async run({ shared, path }) {
      const [kernel, other] = await Promise.all([shared.kernel(), shared.kernel()]);
      await other.run("kept = 7");
      const cell = kernel.run(stubbornBeat(path("beat")));
      await beats(shared, path("beat"));
      const [ended] = await within(20_000, "close", Promise.all([cell, close(kernel)]));
      await silent(shared, path("beat"));
      assert.deepEqual([ended.ok, ended.stateLost], [false, true]);
      assert.equal((await other.run("kept")).value, 7);
      await close(other);
    },
  },
  {
    id: "kernel.dies",
    title: "an interpreter that ends itself is told as lost state, and the next cell works",
    needs: ["kernel.python"],
    async run({ shared }) {
      const kernel = await shared.kernel();
      await kernel.run("mine = 1");
      const cell = await within(
        20_000,
        "the cell",
        kernel.run("print('last words', flush=True)\nimport os\nos._exit(3)"),
      );
      assert.deepEqual([cell.ok, cell.stateLost, cell.exitCode], [false, true, null]);
      assert.equal(cell.stdout.text, "last words\n");
      assert.equal((await kernel.run("'mine' in globals()")).value, false);
      await close(kernel);
    },
  },
  {
    id: "kernel.listener.throws",
    title: "a listener that throws ends the cell, and the call rejects with what it threw",
    needs: ["kernel.python"],
    async run({ shared }) {
      const kernel = await shared.kernel();
      const thrown = new Error("the listener has had enough");
      const cell = kernel.run("print('x', flush=True)\nimport time\ntime.sleep(60)", {
        onOutput() {
          throw thrown;
        },
      });
      assert.equal(await within(20_000, "the cell", failure(cell)), thrown);
      assert.equal((await kernel.run("1 + 1")).value, 2);
      await close(kernel);
    },
  },
  {
    id: "kernel.beside-files",
    title: "files are read and written while a cell runs",
    needs: ["kernel.python", "files"],
    reports: ["r-wasm/quarto-live#72"],
    async run({ shared, path }) {
      const kernel = await shared.kernel();
      const stop = new AbortController();
      const cell = kernel.run(startedIn(path("on"), "while True: pass"), { signal: stop.signal });
      try {
        await started(shared, path("on"));
        await within(10_000, "files", shared.files.write(path("file"), "while it runs"));
        assert.equal(await shared.files.readText(path("file")), "while it runs");
      } finally {
        stop.abort();
        await cell;
      }
      await close(kernel);
    },
  },
];

const close = (kernel: Kernel) => kernel[Symbol.asyncDispose]();
