import { execFileSync, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { median } from "./statistics.mjs";

/** @typedef {{ firstMs: number, laterMs: number, workMs: number, rssBytes: number }} ColdStart */

const node = process.execPath;
const naive = fileURLToPath(new URL("programs/naive-pyodide.mjs", import.meta.url));
const ours = fileURLToPath(new URL("programs/sandkit-wasm.mjs", import.meta.url));
const sides = /** @type {const} */ (["naive", "deno", "fresh", "sandkit"]);

/**
 * Process start to first Python result, later cells, work for the processor, and memory: medians over interleaved runs,
 * so that what else the machine does falls on all sides alike. `fresh` is Sandkit without anything kept from earlier
 * starts. The clock of `firstMs` runs in this process, from before the start to the first line of output.
 * @param {number} rounds
 * @param {string} codeCache Directory for compiled code, empty.
 */
export async function coldStarts(rounds, codeCache) {
  const programs = {
    naive: [node, naive],
    deno: [deno(), "run", "--allow-all", naive],
    fresh: [node, ours],
    sandkit: [node, ours, codeCache],
  };
  /** @type {Record<keyof typeof programs, ColdStart[]>} */
  const runs = { naive: [], deno: [], fresh: [], sandkit: [] };
  // The first run of each is not counted: it fills the caches of the disk, and Sandkit's own.
  for (let round = 0; round <= rounds; round++) {
    for (const name of sides) {
      const run = await runOnce(programs[name]);
      if (round > 0) runs[name].push(run);
    }
    if (round === 0) await untilCompiled(codeCache);
  }
  return {
    naive: middle(runs.naive),
    deno: middle(runs.deno),
    fresh: middle(runs.fresh),
    sandkit: middle(runs.sandkit),
  };
}

/**
 * The first start leaves compiled code for the later ones, by a process in the background.
 * @param {string} directory
 */
async function untilCompiled(directory) {
  for (let waited = 0; waited < 60_000; waited += 100) {
    const names = readdirSync(directory);
    if (names.length > 0 && !names.some((name) => name.endsWith(".unfinished"))) return;
    await wait(100);
  }
  throw new Error("no compiled code was kept in a minute");
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
    workMs: median(runs.map(({ workMs }) => workMs)),
    rssBytes: median(runs.map(({ rssBytes }) => rssBytes)),
  };
}

/**
 * @param {readonly string[]} commandLine
 * @returns {Promise<ColdStart>}
 */
async function runOnce(commandLine) {
  const [command = node, ...args] = commandLine;
  const start = performance.now();
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = new Promise((resolve) => child.on("close", resolve));
  let firstMs = Number.NaN;
  let report = "";
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "first result") firstMs = performance.now() - start;
    else report = line;
  }
  const code = await closed;
  if (code !== 0) throw new Error(`${args.join(" ")} ended with exit code ${code}`);
  const { later, work, rssBytes } = JSON.parse(report);
  return { firstMs, laterMs: median(later), workMs: median(work), rssBytes };
}
