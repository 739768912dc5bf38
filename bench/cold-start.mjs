import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { median } from "./statistics.mjs";

/** @typedef {{ firstMs: number, laterMs: number, rssBytes: number }} ColdStart */

const programs = { naive: "naive-pyodide.mjs", sandkit: "sandkit-wasm.mjs" };

/**
 * Process start to first Python result, later cells, and memory: medians over interleaved runs, so that what else the
 * machine does falls on both.
 * @param {number} rounds
 * @returns {Promise<Record<keyof typeof programs, ColdStart>>}
 */
export async function coldStarts(rounds) {
  /** @type {Record<keyof typeof programs, ColdStart[]>} */
  const runs = { naive: [], sandkit: [] };
  // The first run of each is not counted: it fills the caches of the disk, and Sandkit's own.
  for (let round = 0; round <= rounds; round++) {
    for (const name of /** @type {const} */ (["naive", "sandkit"])) {
      const run = await runOnce(programs[name]);
      if (round > 0) runs[name].push(run);
    }
  }
  return { naive: middle(runs.naive), sandkit: middle(runs.sandkit) };
}

/** @param {readonly ColdStart[]} runs */
function middle(runs) {
  return {
    firstMs: median(runs.map(({ firstMs }) => firstMs)),
    laterMs: median(runs.map(({ laterMs }) => laterMs)),
    rssBytes: median(runs.map(({ rssBytes }) => rssBytes)),
  };
}

/**
 * @param {string} program
 * @returns {Promise<ColdStart>}
 */
async function runOnce(program) {
  const path = fileURLToPath(new URL(`programs/${program}`, import.meta.url));
  const start = performance.now();
  const child = spawn(process.execPath, [path], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = new Promise((resolve) => child.on("close", resolve));
  let firstMs = Number.NaN;
  let report = "";
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "first result") firstMs = performance.now() - start;
    else report = line;
  }
  const code = await closed;
  if (code !== 0) throw new Error(`${program} ended with exit code ${code}`);
  const { later, rssBytes } = JSON.parse(report);
  return { firstMs, laterMs: median(later), rssBytes };
}
