import { setTimeout as pause } from "node:timers/promises";
import { createSandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { docker } from "../src/index.js";
import { engine, engineIsThere, testImages } from "./engine.js";
import { SecondEngine, secondEngineIsPossible } from "./second-engine.js";

if (engineIsThere && !secondEngineIsPossible) {
  console.warn("SKIPPED: restarting an engine in mid exec is tested as root, with dockerd in /usr/sbin alone.");
}

async function waitForSpares(second: SecondEngine): Promise<void> {
  const isThere = async () => {
    const found = await second.dockerode.listContainers({ filters: { label: ["sandkit.spare"] } });
    return found.filter(({ Names }) => Names[0]?.startsWith("/sandkit-spare-")).length === 2;
  };
  for (let round = 0; !(await isThere()); round++) {
    if (round > 500) throw new Error("the pool does not fill");
    await pause(20);
  }
}

describe.skipIf(!engineIsThere || !secondEngineIsPossible)("an engine that is restarted in mid exec", () => {
  let second: SecondEngine;
  beforeAll(async () => {
    second = await SecondEngine.start();
    const image = await engine.getImage(testImages.python).get();
    const loading = await second.dockerode.loadImage(image);
    for await (const _ of loading);
  }, 120_000);
  afterAll(() => second?.remove(), 60_000);

  it("loses the sandbox, by name and soon, and serves the next one when it is back, from a full pool too", {
    timeout: 120_000,
  }, async () => {
    const provider = docker({ host: second.host, images: testImages, pull: "never" });
    const withPool = docker({ host: second.host, images: testImages, pull: "never", pool: { size: 2 } });
    const sandbox = await createSandbox(provider);
    await waitForSpares(second);
    const running = sandbox.exec("echo started; sleep 100");
    const cell = sandbox.runCode("import time; time.sleep(100)");
    const outcomes = [running, cell].map((call) =>
      call.then(
        ({ reason }) => reason,
        (error) => error.code,
      ),
    );
    await sandbox.exec("true");
    await second.stop();
    for (const outcome of await Promise.all(outcomes)) expect(["SANDBOX_LOST", "signaled"]).toContain(outcome);
    await expect(sandbox.exec("true")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
    await expect(createSandbox(provider)).rejects.toMatchObject({ code: "UNAVAILABLE", retryable: true });

    await second.start();
    const next = await createSandbox(provider);
    expect((await next.exec("echo back")).stdout.text).toBe("back\n");
    const claimed = await createSandbox(withPool);
    expect((await claimed.exec("echo back")).stdout.text).toBe("back\n");
    await waitForSpares(second);
    await Promise.all([next.destroy(), claimed.destroy()]);
    await sandbox.destroy();
    await withPool.close?.();
    const left = await second.dockerode.listContainers({ all: true });
    expect(left).toEqual([]);
  });
});
