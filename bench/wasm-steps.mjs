import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "./statistics.mjs";

/**
 * Medians, within one running program: a new sandbox to its first result, one from the pool, a further interpreter,
 * and what each holds in memory.
 * @param {number} rounds
 */
export async function wasmSteps(rounds) {
  const path = fileURLToPath(new URL("programs/sandkit-wasm-steps.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [path, `${rounds}`]);
  /** @type {Record<"pooled" | "further", { times: number[], bytes: number }> & { created: number[] }} */
  const { created, pooled, further } = JSON.parse(stdout);
  return {
    createdMs: median(created),
    pooledMs: median(pooled.times),
    pooledBytes: pooled.bytes,
    furtherMs: median(further.times),
    furtherBytes: further.bytes,
  };
}
