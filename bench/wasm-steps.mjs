import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "./statistics.mjs";

/**
 * Medians, within one running program: a new sandbox to its first result, one from the pool, a further interpreter,
 * what each holds in memory, and an interrupt.
 * @param {number} rounds
 * @param {string} codeCache Directory with compiled code.
 */
export async function wasmSteps(rounds, codeCache) {
  /** @type {Record<"pooled" | "further", { times: number[], bytes: number }> & Record<"created" | "interrupted", number[]>} */
  const { created, pooled, further, interrupted } = await run("sandkit-wasm-steps.mjs", rounds, codeCache);
  return {
    createdMs: median(created),
    pooledMs: median(pooled.times),
    pooledBytes: pooled.bytes,
    furtherMs: median(further.times),
    furtherBytes: further.bytes,
    interruptedMs: median(interrupted),
  };
}

/**
 * Medians of files and commands in one sandbox, and many sandboxes: 20 at once, and what 50 that live take.
 * @param {number} rounds
 * @param {string} codeCache Directory with compiled code.
 */
export async function wasmLoad(rounds, codeCache) {
  /** @type {{ seconds: [write: number, read: number, look: number][], shell: { first: number, next: number[] }, parallelMs: number, livingBytes: number }} */
  const { seconds, shell, parallelMs, livingBytes } = await run("sandkit-wasm-load.mjs", rounds, codeCache);
  return {
    writeMs: median(seconds.map(([write]) => write * 1000)),
    readMs: median(seconds.map(([, read]) => read * 1000)),
    // A thousand calls in so many seconds take as many milliseconds each.
    lookMs: median(seconds.map(([, , look]) => look)),
    firstCommandMs: shell.first,
    commandMs: median(shell.next),
    parallelMs,
    livingBytes,
  };
}

/**
 * @param {string} program
 * @param {number} rounds
 * @param {string} codeCache
 */
async function run(program, rounds, codeCache) {
  const path = fileURLToPath(new URL(`programs/${program}`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [path, `${rounds}`, codeCache]);
  return JSON.parse(stdout);
}
