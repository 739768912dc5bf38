import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { coldStarts } from "./cold-start.mjs";
import { wasmLoad, wasmSteps } from "./wasm-steps.mjs";

/**
 * Python in WebAssembly beside Pyodide in Node and in Deno.
 * @param {number} rounds
 * @param {(message: string) => void} progress
 * @returns {Promise<import("./report.mjs").Part>}
 */
export async function measureWasm(rounds, progress) {
  // Of its own, so that the user's is neither used nor filled.
  const codeCache = realpathSync(mkdtempSync(join(tmpdir(), "sandkit-bench-")));
  try {
    progress(`${rounds} cold starts of each side`);
    const starts = await coldStarts(rounds, codeCache);
    progress("sandboxes and interpreters in a running program");
    const steps = await wasmSteps(rounds, codeCache);
    progress("files, commands, and sandboxes in numbers");
    const load = await wasmLoad(rounds, codeCache);
    const toDeno = (starts.deno.firstMs / starts.sandkit.firstMs).toFixed(1);
    return {
      name: "wasm",
      columns: ["", "Pyodide in Node", "Pyodide in Deno", "Sandkit (wasm)", "Node ÷ ours", "target", ""],
      rows: [...startRows(starts), ...stepRows(steps), ...loadRows(load)],
      notes: [
        `medians of ${rounds} runs, those of processes interleaved; the first result comes ${toDeno} × sooner than in Deno`,
        "memory of one sandbox or interpreter more: pages that processes share count by their share",
      ],
    };
  } finally {
    rmSync(codeCache, { recursive: true });
  }
}

const [ms, mebibytes] = /** @type {const} */ (["ms", "MiB"]);

/**
 * @param {Awaited<ReturnType<typeof coldStarts>>} starts
 * @returns {import("./report.mjs").Row[]}
 */
function startRows({ naive, deno, fresh, sandkit }) {
  const first = { raw: naive.firstMs, rival: deno.firstMs };
  return [
    {
      id: "first",
      what: "process start → first Python result",
      unit: ms,
      ...first,
      sandkit: sandkit.firstMs,
      target: 450,
      minRatio: 5,
    },
    { id: "fresh", what: "the same, nothing compiled before", unit: ms, ...first, sandkit: fresh.firstMs },
    {
      id: "later",
      what: "a later cell",
      unit: ms,
      raw: naive.laterMs,
      rival: deno.laterMs,
      sandkit: sandkit.laterMs,
      target: 2,
    },
    {
      id: "work",
      what: "work for the processor",
      unit: ms,
      raw: naive.workMs,
      rival: deno.workMs,
      sandkit: sandkit.workMs,
      maxRatio: 1.1,
    },
    {
      id: "memory",
      what: "resident memory, whole process tree",
      unit: mebibytes,
      raw: inMiB(naive.rssBytes),
      rival: inMiB(deno.rssBytes),
      sandkit: inMiB(sandkit.rssBytes),
    },
  ];
}

/**
 * @param {Awaited<ReturnType<typeof wasmSteps>>} steps
 * @returns {import("./report.mjs").Row[]}
 */
function stepRows({ createdMs, pooledMs, pooledBytes, furtherMs, furtherBytes, interruptedMs }) {
  return [
    { id: "created", what: "new sandbox in a running program → result", unit: ms, sandkit: createdMs, target: 350 },
    { id: "pooled", what: "sandbox from the pool → result", unit: ms, sandkit: pooledMs, target: 10 },
    { id: "further", what: "further interpreter, none kept ready → result", unit: ms, sandkit: furtherMs, target: 200 },
    { id: "interrupted", what: "interrupt of a busy cell", unit: ms, sandkit: interruptedMs, target: 50 },
    {
      id: "pooled-memory",
      what: "memory of a pooled sandbox",
      unit: mebibytes,
      sandkit: inMiB(pooledBytes),
      target: 110,
    },
    {
      id: "further-memory",
      what: "memory of a further interpreter",
      unit: mebibytes,
      sandkit: inMiB(furtherBytes),
      target: 60,
    },
  ];
}

/**
 * @param {Awaited<ReturnType<typeof wasmLoad>>} load
 * @returns {import("./report.mjs").Row[]}
 */
function loadRows({ writeMs, readMs, lookMs, firstCommandMs, commandMs, parallelMs, livingBytes }) {
  return [
    { id: "write", what: "100 MB written to a file by Python", unit: ms, sandkit: writeMs, target: 1000 },
    { id: "read", what: "the same read", unit: ms, sandkit: readMs, target: 1000 },
    { id: "look", what: "os.stat in Python", unit: ms, sandkit: lookMs, target: 0.1 },
    { id: "first-command", what: "the first command line of a sandbox", unit: ms, sandkit: firstCommandMs },
    { id: "command", what: "a later one (`ls`, piped into `wc -l`)", unit: ms, sandkit: commandMs },
    { id: "parallel", what: "20 sandboxes at once, all to their result", unit: ms, sandkit: parallelMs },
    {
      id: "living",
      what: "memory of 50 living sandboxes",
      unit: mebibytes,
      sandkit: inMiB(livingBytes),
      target: 24 * 1024,
    },
  ];
}

/** @param {number} bytes */
function inMiB(bytes) {
  return bytes / 2 ** 20;
}
