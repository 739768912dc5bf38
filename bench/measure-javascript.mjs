import { execFile } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { createSandbox } from "@sandkit/core";
import { wasm } from "@sandkit/provider-wasm";
import { median } from "./statistics.mjs";
import { timed } from "./timed.mjs";

const run = promisify(execFile);
const language = /** @type {const} */ ("javascript");
const program = ["-e", "console.log(1)"];
const busy = "(() => { const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); return fib(24) })()";
/** Longer than an interpreter takes to be ready again. */
const restMs = 500;

/**
 * JavaScript in WebAssembly, in turns with Node on this machine, which isolates nothing.
 * @param {number} starts How many sandboxes, programs and kernels.
 * @param {number} cells
 * @param {(message: string) => void} progress
 * @returns {Promise<import("./report.mjs").Part>}
 */
export async function measureJavaScript(starts, cells, progress) {
  /** @type {Record<"first" | "program" | "kernel" | "node" | "cell" | "busy" | "nodeBusy", number[]>} */
  const times = { first: [], program: [], kernel: [], node: [], cell: [], busy: [], nodeBusy: [] };
  for (let start = 0; start < starts; start++) {
    progress(`JavaScript: sandbox ${start + 1} of ${starts}`);
    /** @type {import("@sandkit/core").Sandbox | undefined} */
    let sandbox;
    times.first.push(
      await timed(async () => {
        sandbox = await createSandbox(wasm(), { template: "javascript" });
        await sandbox.runCode("1", { language });
      }),
    );
    if (!sandbox) throw new Error("there is no sandbox");
    const own = sandbox;
    await pause(restMs);
    times.program.push(await timed(() => own.exec(["node", ...program])));
    times.node.push(await timed(() => run(process.execPath, program)));
    await pause(restMs);
    times.kernel.push(
      await timed(async () => {
        await (await own.kernel({ language })).run("1");
      }),
    );
    // The first of them warm the interpreter up.
    for (let cell = -10; cell < cells / starts; cell++) {
      const ms = await timed(() => own.runCode(`${cell} + 1`, { language }));
      if (cell >= 0) times.cell.push(ms);
    }
    times.busy.push(await timed(() => own.runCode(busy, { language })));
    times.nodeBusy.push(await timed(() => run(process.execPath, ["-p", busy])));
    await own.destroy();
  }
  const unit = /** @type {const} */ ("ms");
  return {
    name: "javascript",
    columns: ["", "node", "Sandkit (wasm)", "ratio"],
    rows: [
      { id: "first", what: "new sandbox → first JavaScript result", unit, sandkit: median(times.first) },
      { id: "kernel", what: "a further interpreter with its first cell", unit, sandkit: median(times.kernel) },
      {
        id: "program",
        what: "`node -e`, start to end",
        unit,
        raw: median(times.node),
        sandkit: median(times.program),
      },
      { id: "cell", what: "a later cell", unit, sandkit: median(times.cell), target: 1 },
      {
        id: "busy",
        what: "fib(24), the start of Node included",
        unit,
        raw: median(times.nodeBusy),
        sandkit: median(times.busy),
      },
    ],
    notes: [
      `medians of ${starts} sandboxes with ${Math.ceil(cells / starts)} cells each; an interpreter is kept ready`,
    ],
  };
}
