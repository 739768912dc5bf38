import { randomBytes } from "node:crypto";
import { createSandbox } from "@sandkit/core";
import { daytona } from "@sandkit/provider-daytona";
import { e2b } from "@sandkit/provider-e2b";
import { median } from "../statistics.mjs";
import { timed } from "../timed.mjs";
import { importMs } from "./import-ms.mjs";
import { rawSdks } from "./raw-sdks.mjs";
import { startCloud } from "./start-cloud.mjs";

const fileBytes = 10_000_000;
const filesPerSandbox = 5;

const providers = {
  /** @param {import("./start-cloud.mjs").Cloud} cloud */
  e2b: ({ url, apiKey }) => e2b({ apiKey, apiUrl: url, sandboxUrl: url, user: "root" }),
  /** @param {import("./start-cloud.mjs").Cloud} cloud */
  daytona: ({ url, apiKey }) => daytona({ apiKey, apiUrl: url, target: "us" }),
};

/**
 * What our providers of clouds add to, or save of, the SDKs that they use, in turns at the same emulated cloud.
 * @param {string} image
 * @param {import("../scale.mjs").Scale} scale
 * @param {(message: string) => void} progress
 */
export async function measureClouds(image, scale, progress) {
  const rows = [];
  for (const name of /** @type {const} */ (["e2b", "daytona"])) {
    progress(`${name}: import`);
    rows.push({
      id: `${name}.import`,
      what: `${name}: the provider imported`,
      unit: /** @type {const} */ ("ms"),
      // Before anything else is at work.
      sandkit: importMs(`@sandkit/provider-${name}`, 9),
      target: 20,
    });
    const cloud = await startCloud(name, image);
    const provider = providers[name](cloud);
    try {
      rows.push(...(await measure(name, rawSdks[name](cloud), provider, scale, progress)));
    } finally {
      await provider.close?.();
      await cloud.close();
    }
  }
  return { rows };
}

/**
 * @param {string} name
 * @param {() => Promise<import("./raw-sdks.mjs").RawSandbox>} createRaw
 * @param {import("@sandkit/core").Provider} provider
 * @param {import("../scale.mjs").Scale} scale
 * @param {(message: string) => void} progress
 */
async function measure(name, createRaw, provider, scale, progress) {
  const times = { create: pair(), exec: pair(), write: pair(), read: pair() };
  const content = randomBytes(fileBytes);
  for (let start = 0; start < scale.starts; start++) {
    progress(`${name}: sandboxes ${start + 1} of ${scale.starts}`);
    const [raw, rawMs] = await timedResult(createRaw);
    times.create.raw.push(rawMs);
    const [ours, oursMs] = await timedResult(() => createSandbox(provider));
    times.create.ours.push(oursMs);
    try {
      for (let round = 0; round < scale.execs / scale.starts; round++) {
        times.exec.raw.push(await timed(() => raw.exec("true")));
        times.exec.ours.push(await timed(() => ours.exec("true")));
      }
      for (let round = 0; round < filesPerSandbox; round++) {
        times.write.raw.push(await timed(() => raw.write("big.bin", content)));
        times.write.ours.push(await timed(() => ours.files.write("big.bin", content)));
        times.read.raw.push(await timed(() => raw.read("big.bin")));
        times.read.ours.push(await timed(() => ours.files.read("big.bin")));
      }
    } finally {
      await Promise.all([raw.destroy(), ours.destroy()]);
    }
  }
  const row = (/** @type {keyof typeof times} */ id, /** @type {string} */ what, /** @type {number} */ maxRatio) => ({
    id: `${name}.${id}`,
    what: `${name}: ${what}`,
    unit: /** @type {const} */ ("ms"),
    raw: median(times[id].raw),
    sandkit: median(times[id].ours),
    maxRatio,
  });
  return [
    row("create", "a sandbox, ready", 1.2),
    row("exec", "exec of `true`", 1),
    row("write", "10 MB written", 1.2),
    row("read", "10 MB read", 1.2),
  ];
}

/** @returns {{ raw: number[], ours: number[] }} */
function pair() {
  return { raw: [], ours: [] };
}

/**
 * @template Result
 * @param {() => Promise<Result>} work
 * @returns {Promise<[Result, number]>}
 */
async function timedResult(work) {
  const start = performance.now();
  const result = await work();
  return [result, performance.now() - start];
}
