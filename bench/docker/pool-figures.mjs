import { createSandbox } from "@sandkit/core";
import { ownerLabel } from "@sandkit/core/kit";
import { docker } from "@sandkit/provider-docker";
import { median, quantile } from "../statistics.mjs";
import { timed } from "../timed.mjs";
import { engine, removeContainer } from "./bench-engine.mjs";
import { rawFirstOutput } from "./raw-container.mjs";
import { settle } from "./settle.mjs";

const ms = /** @type {const} */ ("ms");
const atOneTime = 8;
const crowd = 100;
/** Execs at one of the crowd after the other. */
const crowdExecs = 300;

/** @typedef {import("./measure-docker.mjs").Places} Places */

/**
 * From a pool to the first output of a first command.
 * @param {Places} places
 * @param {number} rounds
 */
export async function poolFigure({ model, image, labels }, rounds) {
  const provider = docker({ images: { python: image }, pool: { size: 1 } });
  /** @type {Record<"raw" | "ours", number[]>} */
  const times = { raw: [], ours: [] };
  try {
    for (let round = -1; round < rounds; round++) {
      await spares(1);
      await settle("container");
      /** @type {{ id: string }[]} */
      const raw = [];
      const rawMs = await timed(async () => {
        raw.push(await rawFirstOutput(model));
      });
      await Promise.all(raw.map(({ id }) => removeContainer(id)));
      await settle("container");
      const oursMs = await timed(async () => {
        const sandbox = await firstOutput(provider, labels);
        made.push(sandbox);
      });
      await destroyAll();
      if (round < 0) continue;
      times.raw.push(rawMs);
      times.ours.push(oursMs);
    }
  } finally {
    await destroyAll();
    await provider.close?.();
  }
  return {
    id: "start.pool",
    what: "the same from a pool",
    unit: ms,
    raw: median(times.raw),
    sandkit: median(times.ours),
    target: 30,
  };
}

/**
 * Eight at one time, until the last has its first output: anew, and from a pool of eight.
 * @param {Places} places
 * @param {number} rounds
 */
export async function eightFigures({ model, image, provider, labels }, rounds) {
  const eight = Array.from({ length: atOneTime }, (_, index) => index);
  const pooled = docker({ images: { python: image }, pool: { size: atOneTime } });
  /** @type {Record<"raw" | "ours" | "pooled", number[]>} */
  const times = { raw: [], ours: [], pooled: [] };
  const measure = async (/** @type {typeof provider} */ from) => {
    const took = await timed(async () => {
      made.push(...(await Promise.all(eight.map(() => firstOutput(from, labels)))));
    });
    await destroyAll();
    return took;
  };
  try {
    for (let round = 0; round < rounds; round++) {
      await spares(atOneTime);
      await settle("container");
      /** @type {{ id: string }[]} */
      let raw = [];
      times.raw.push(
        await timed(async () => {
          raw = await Promise.all(eight.map(() => rawFirstOutput(model)));
        }),
      );
      await Promise.all(raw.map(({ id }) => removeContainer(id)));
      await settle("container");
      times.ours.push(await measure(provider));
      await settle("container");
      times.pooled.push(await measure(pooled));
    }
  } finally {
    await destroyAll();
    await pooled.close?.();
  }
  const row = { unit: ms, raw: median(times.raw) };
  return [
    {
      ...row,
      id: "start.eight",
      what: "eight creates at one time → all outputs",
      sandkit: median(times.ours),
      maxRatio: 1,
    },
    { ...row, id: "start.eight.pool", what: "the same from a pool of eight", sandkit: median(times.pooled) },
  ];
}

/**
 * An exec where nothing else is, and at one of a hundred sandboxes that do nothing.
 * @param {Places} places
 */
export async function crowdFigure({ provider, labels, sandbox }) {
  const alone = await execTimes([sandbox]);
  try {
    for (let have = 0; have < crowd; have += atOneTime) {
      const some = Array.from({ length: Math.min(atOneTime, crowd - have) }, () =>
        createSandbox(provider, { labels, resources: { memoryMiB: 256 } }),
      );
      made.push(...(await Promise.all(some)));
    }
    await settle("container");
    const among = await execTimes(made);
    return {
      id: "crowd.exec.p99",
      what: `exec at one of ${crowd} idle sandboxes, 99th percentile (raw: at the only one)`,
      unit: ms,
      raw: quantile(alone, 0.99),
      sandkit: quantile(among, 0.99),
      maxRatio: 10,
    };
  } finally {
    await destroyAll();
  }
}

/** @type {import("@sandkit/core").Sandbox[]} */
const made = [];

/** What came up for a measurement goes again. */
async function destroyAll() {
  await Promise.all(made.splice(0).map((sandbox) => sandbox.destroy()));
}

/**
 * @param {import("@sandkit/core").Provider} provider
 * @param {Record<string, string>} labels
 */
async function firstOutput(provider, labels) {
  const sandbox = await createSandbox(provider, { labels });
  const { stdout } = await sandbox.exec(["echo", "ready"]);
  if (stdout.text !== "ready\n") throw new Error(`the first command of a sandbox gave ${JSON.stringify(stdout.text)}`);
  return sandbox;
}

/** @param {readonly import("@sandkit/core").Sandbox[]} sandboxes */
async function execTimes(sandboxes) {
  const times = [];
  for (const sandbox of sandboxes) await sandbox.exec(["true"]);
  for (let round = 0; round < crowdExecs; round++) {
    const sandbox = sandboxes[round % sandboxes.length];
    times.push(
      await timed(async () => {
        const result = await sandbox?.exec(["true"]);
        if (result?.exitCode !== 0) throw new Error(`exec of true: ${result?.reason}`);
      }),
    );
  }
  return times;
}

/**
 * Waits until so many containers wait for a sandbox.
 * @param {number} count
 */
async function spares(count) {
  const label = [`sandkit.owner=${await ownerLabel()}`, "sandkit.spare"];
  const filters = { label, name: ["sandkit-spare-"], status: ["running"] };
  while ((await engine.listContainers({ filters })).length < count) await settle("exec");
}
