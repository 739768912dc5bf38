import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { median } from "../statistics.mjs";
import { engine, removeContainer } from "./bench-engine.mjs";

const program = fileURLToPath(new URL("programs/owner.mjs", import.meta.url));
const patienceMs = 10_000;

/**
 * From `kill -9` of the program that made a sandbox until the engine no longer knows its container.
 * @param {string} image
 * @param {number} rounds
 * @param {(done: number) => void} progress
 */
export async function ownerFigures(image, rounds, progress) {
  const gone = [];
  for (let round = 0; round < rounds; round++) {
    gone.push(await killOwner("sandkit", image));
    progress(round + 1);
  }
  const rivalMs = await killOwner("rival", image);
  const common = { unit: /** @type {const} */ ("ms"), target: 1_000 };
  const rival = Number.isFinite(rivalMs) ? rivalMs : "stays";
  return [
    {
      ...common,
      id: "owner.median",
      what: "`kill -9` of the owner → container gone, median",
      rival,
      sandkit: median(gone),
    },
    { ...common, id: "owner.worst", what: `the same, slowest of ${rounds}`, sandkit: Math.max(...gone) },
  ];
}

/**
 * @param {"sandkit" | "rival"} who
 * @param {string} image
 */
async function killOwner(who, image) {
  const child = spawn(process.execPath, [program, who, image, String(process.pid)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const [container] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then(([code]) => Promise.reject(new Error(`the owner ended with exit code ${code}`))),
  ]);
  const start = performance.now();
  child.kill("SIGKILL");
  await exited;
  while (await isThere(container)) {
    if (performance.now() - start > patienceMs) {
      await removeContainer(container);
      return Number.POSITIVE_INFINITY;
    }
    await pause(5);
  }
  return performance.now() - start;
}

/** @param {string} id */
async function isThere(id) {
  try {
    await engine.getContainer(id).inspect();
    return true;
  } catch (error) {
    if (error instanceof Error && "statusCode" in error && error.statusCode === 404) return false;
    throw error;
  }
}
