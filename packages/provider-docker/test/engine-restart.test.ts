import { createSandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { docker } from "../src/index.js";
import { engineIsThere, testImages } from "./engine.js";
import { SecondEngine, secondEngineIsPossible } from "./second-engine.js";

if (engineIsThere && !secondEngineIsPossible) {
  console.warn("SKIPPED: restarting an engine in mid exec is tested as root, with dockerd in /usr/sbin alone.");
}

describe.skipIf(!engineIsThere || !secondEngineIsPossible)("an engine that is restarted in mid exec", () => {
  let second: SecondEngine;
  beforeAll(async () => {
    second = await SecondEngine.start();
    await second.load(testImages.python);
  }, 120_000);
  afterAll(() => second?.remove(), 60_000);

  it("loses the sandbox, by name and soon, and serves the next one when it is back", { timeout: 120_000 }, async () => {
    const provider = docker({ host: second.host, images: testImages, pull: "never" });
    const sandbox = await createSandbox(provider);
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
    await next.destroy();
    await sandbox.destroy();
    const left = await second.dockerode.listContainers({ all: true });
    expect(left).toEqual([]);
  });
});
