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
  const path = fileURLToPath(new URL("programs/sandkit-wasm-steps.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [path, `${rounds}`, codeCache]);
  /** @type {Record<"pooled" | "further", { times: number[], bytes: number }> & Record<"created" | "interrupted", number[]>} */
  const { created, pooled, further, interrupted } = JSON.parse(stdout);
  return {
    createdMs: median(created),
    pooledMs: median(pooled.times),
    pooledBytes: pooled.bytes,
    furtherMs: median(further.times),
    furtherBytes: further.bytes,
    interruptedMs: median(interrupted),
  };
}
