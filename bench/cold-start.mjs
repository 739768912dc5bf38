import { execFileSync, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { median } from "./statistics.mjs";

/** @typedef {{ firstMs: number, laterMs: number, rssBytes: number }} ColdStart */

const node = process.execPath;
/** Each as a command line; the last argument is a program of this folder. */
const programs = {
  naive: [node, "naive-pyodide.mjs"],
  deno: [deno(), "run", "--allow-all", "naive-pyodide.mjs"],
  sandkit: [node, "sandkit-wasm.mjs"],
};
const sides = /** @type {const} */ (["naive", "deno", "sandkit"]);

/**
 * Process start to first Python result, later cells, and memory: medians over interleaved runs, so that what else the
 * machine does falls on both.
 * @param {number} rounds
 * @returns {Promise<Record<keyof typeof programs, ColdStart>>}
 */
export async function coldStarts(rounds) {
  /** @type {Record<keyof typeof programs, ColdStart[]>} */
  const runs = { naive: [], deno: [], sandkit: [] };
  // The first run of each is not counted: it fills the caches of the disk, and Sandkit's own.
  for (let round = 0; round <= rounds; round++) {
    for (const name of sides) {
      const run = await runOnce(programs[name]);
      if (round > 0) runs[name].push(run);
    }
  }
  return { naive: middle(runs.naive), deno: middle(runs.deno), sandkit: middle(runs.sandkit) };
}

/** Deno itself: the command of its npm package would add a start of Node. */
function deno() {
  const command = createRequire(import.meta.url).resolve("deno/bin.cjs");
  return execFileSync(node, [command, "eval", "console.log(Deno.execPath())"], { encoding: "utf8" }).trim();
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
 * @param {readonly string[]} commandLine
 * @returns {Promise<ColdStart>}
 */
async function runOnce(commandLine) {
  const [command = node, ...args] = commandLine;
  const program = args.pop();
  const path = fileURLToPath(new URL(`programs/${program}`, import.meta.url));
  const start = performance.now();
  const child = spawn(command, [...args, path], { stdio: ["ignore", "pipe", "inherit"] });
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
