import { createSandbox } from "@sandkit/core";
import { median } from "../statistics.mjs";
import { engine, removeContainer } from "./bench-engine.mjs";
import { rawFirstOutput } from "./raw-container.mjs";
import { rivalExec, startRival } from "./rival.mjs";
import { settle } from "./settle.mjs";

/** @typedef {import("./measure-docker.mjs").Places} Places */

/**
 * From nothing to the first output of a first command, with the image on the engine.
 * @param {Places} places
 * @param {number} rounds
 */
export async function startFigure({ model, image, provider, labels }, rounds) {
  /** @type {Record<"raw" | "rival" | "ours", number[]>} */
  const times = { raw: [], rival: [], ours: [] };
  for (let round = -1; round < rounds; round++) {
    const start = performance.now();
    const raw = await rawFirstOutput(model);
    const rawMs = performance.now() - start;
    await removeContainer(raw.id);
    await settle("container");
    const rivalStart = performance.now();
    const rival = await startRival(image);
    await rivalExec(rival, "echo", ["ready"]);
    const rivalMs = performance.now() - rivalStart;
    await rival._destroy();
    await settle("container");
    const ownStart = performance.now();
    const sandbox = await createSandbox(provider, { labels });
    const { stdout } = await sandbox.exec(["echo", "ready"]);
    const ownMs = performance.now() - ownStart;
    await sandbox.destroy();
    await settle("container");
    if (stdout.text !== "ready\n")
      throw new Error(`the first command of a sandbox gave ${JSON.stringify(stdout.text)}`);
    if (round < 0) continue;
    times.raw.push(rawMs);
    times.rival.push(rivalMs);
    times.ours.push(ownMs);
  }
  return {
    id: "start",
    what: "create → first output of a command",
    unit: /** @type {const} */ ("ms"),
    raw: median(times.raw),
    rival: median(times.rival),
    sandkit: median(times.ours),
    maxRatio: 1.1,
  };
}

/**
 * What an idle container takes, as its cgroup counts it, without what can be given back.
 * @param {Places} places
 */
export async function memoryFigure({ raw, rival, model }) {
  return {
    id: "memory.idle",
    what: "memory of an idle container",
    unit: /** @type {const} */ ("MiB"),
    raw: await memoryOf(raw.id),
    rival: await memoryOf(rival.container.id),
    sandkit: await memoryOf(model.Id),
  };
}

/** @param {string} id */
async function memoryOf(id) {
  const { memory_stats: memory } = await engine.getContainer(id).stats({ stream: false, "one-shot": true });
  const cache = memory.stats.total_inactive_file ?? memory.stats.inactive_file ?? 0;
  return (memory.usage - cache) / 2 ** 20;
}
