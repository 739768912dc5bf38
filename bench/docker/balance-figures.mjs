import { availableParallelism } from "node:os";
import { balance, createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";
import { median } from "../statistics.mjs";
import { timed } from "../timed.mjs";
import { startSecondEngine } from "./second-engine.mjs";
import { settle } from "./settle.mjs";

const sandboxes = 16;
const atOneTime = 8;
/** Two engines on fewer processors share what one has used up already. */
const processorsForTwo = 8;

/** @typedef {import("./measure-docker.mjs").Places} Places */

/**
 * Sandboxes made, used once and destroyed: at one engine, and over two as one provider.
 * @param {Places} places
 * @param {number} rounds
 * @param {(message: string) => void} progress
 */
export async function balanceFigures({ image, labels }, rounds, progress) {
  progress("a second engine");
  const second = await startSecondEngine(image);
  if (!second) return [];
  const images = { python: image };
  const one = docker({ images });
  const both = balance({ one, two: docker({ images, host: second.host }) }, { policy: "least-sessions" });
  /** @type {Record<"one" | "both", number[]>} */
  const times = { one: [], both: [] };
  try {
    progress("two engines as one");
    for (let round = -1; round < rounds; round++) {
      const oneMs = await timed(() => useMany(one, labels));
      await settle("container");
      const bothMs = await timed(() => useMany(both, labels));
      await settle("container");
      if (round < 0) continue;
      times.one.push(oneMs);
      times.both.push(bothMs);
    }
  } finally {
    await both.close?.();
    await second.stop();
  }
  return [
    {
      id: "balance.two",
      what: `${sandboxes} sandboxes, used once and destroyed, over two engines (raw: over one)`,
      unit: /** @type {const} */ ("ms"),
      raw: median(times.one),
      sandkit: median(times.both),
      ...(availableParallelism() >= processorsForTwo && { minRatio: 1.7 }),
    },
  ];
}

/**
 * @param {import("@sandkit/core").Provider} provider
 * @param {Record<string, string>} labels
 */
async function useMany(provider, labels) {
  let left = sandboxes;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const sandbox = await createSandbox(provider, { labels });
      await sandbox.exec(["true"]);
      await sandbox.destroy();
    }
  };
  await Promise.all(Array.from({ length: atOneTime }, worker));
}
