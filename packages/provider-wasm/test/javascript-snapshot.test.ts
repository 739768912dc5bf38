import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { createSandbox } from "@sandkit/core";
import { expect, it } from "vitest";
import { findArtifacts } from "../src/artifacts.js";
import { loadJavaScriptAssets } from "../src/broker/assets.js";
import { wasm } from "../src/index.js";
import { BrokerEnd } from "../src/link.js";
import type { JavaScriptWorkerAssets } from "../src/worker/javascript-worker.js";

const { directory: artifacts, quickjs } = findArtifacts();
const options = { artifacts, quickjs, memoryMiB: 128 };

/** What a worker first asks of its broker. */
async function firstCall(assets: Omit<JavaScriptWorkerAssets, "link">, argv: string[]): Promise<string | undefined> {
  const link = new BrokerEnd();
  const workerData: JavaScriptWorkerAssets = { ...assets, link: link.memory };
  const worker = new Worker(`${artifacts}/javascript-worker.mjs`, { workerData, argv, env: {} });
  try {
    for (;;) {
      const message = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
      if (message !== "call") continue;
      const { operation, args } = link.receive() ?? {};
      return `${operation} ${args}`;
    }
  } finally {
    await worker.terminate();
  }
}

it("the saved memory fits a worker, whatever its arguments, and the driver is not evaluated again", async () => {
  const assets = { ...loadJavaScriptAssets(options), driver: "throw new Error('it is')" };
  expect(await firstCall(assets, [])).toBe("job []");
  expect(await firstCall(assets, ["an argument that is long".repeat(100)])).toBe("job []");
});

it("where it does not fit, the driver is evaluated", async () => {
  const assets = loadJavaScriptAssets(options);
  expect(assets.driver).toBe(readFileSync(`${artifacts}/javascript.js`, "utf8"));
  expect(await firstCall({ ...assets, snapshot: { ...assets.snapshot, place: 0 } }, [])).toBe("job []");
});

it("nothing random is saved with it", async () => {
  const sandbox = await createSandbox(wasm({ warmWorkers: 0 }), {});
  const draw = "console.log(Math.random(), crypto.randomUUID(), process.pid)";
  const programs = await Promise.all([1, 2, 3].map(() => sandbox.exec(["node", "-e", draw])));
  const words = programs.flatMap(({ stdout }) => stdout.text.trim().split(" "));
  expect([words.length, new Set(words).size]).toEqual([9, 9]);
  expect(words.filter((word) => word.startsWith("0."))).toHaveLength(3);
  await sandbox.destroy();
});
