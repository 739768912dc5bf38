import { setTimeout as pause } from "node:timers/promises";
import { attachSandbox, type BackendHealth, balance, createSandbox, type Sandbox } from "@sandkit/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { docker } from "../src/index.js";
import { engineIsThere, testImages } from "./engine.js";
import { SecondEngine, secondEngineIsPossible } from "./second-engine.js";

if (engineIsThere && !secondEngineIsPossible) {
  console.warn(
    "SKIPPED: restarting an engine, and two as one provider, are tested as root, with dockerd in /usr/sbin alone.",
  );
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

describe.skipIf(!engineIsThere || !secondEngineIsPossible)("an engine of the test's own", () => {
  let second: SecondEngine;
  const label = { balance: String(process.pid) };
  beforeAll(async () => {
    second = await SecondEngine.start();
    await second.load(testImages.python);
  }, 120_000);
  afterAll(() => second?.remove(), 60_000);

  it("restarted in mid exec loses the sandbox, by name and soon, and serves the next one when it is back, from a full pool too", {
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

  it("is one provider with another: spreads over both, goes on with one, and tells of the other", {
    timeout: 120_000,
  }, async () => {
    const health: BackendHealth[] = [];
    const backends = {
      far: docker({ host: second.host, images: testImages, pull: "never" }),
      near: docker({ images: testImages, pull: "never" }),
    };
    const provider = balance(backends, {
      policy: "least-sessions",
      recheckMs: 200,
      onHealth: (change) => health.push(change),
    });
    const keyOf = ({ ref }: Sandbox) => ref.id.split(".")[0];
    const create = (name?: string) => createSandbox(provider, { labels: label, name });
    const listed = async () => {
      const ids: string[] = [];
      for await (const { ref } of provider.list({ labels: label })) ids.push(ref.id);
      return ids.sort();
    };

    const four = await Promise.all([create(), create(), create("one"), create("two")]);
    expect(four.map(keyOf).sort()).toEqual(["far", "far", "near", "near"]);
    const said = await Promise.all(four.map((one) => one.exec(["echo", one.ref.id])));
    expect(said.map(({ stdout }) => stdout.text.trim())).toEqual(four.map(({ ref }) => ref.id));
    expect(await listed()).toEqual(four.map(({ ref }) => ref.id).sort());
    const far = four.find((one) => keyOf(one) === "far");
    const detached = await createSandbox(provider, { labels: label, lifetime: { detached: true } });
    expect(await (await attachSandbox(provider, detached.ref)).info()).toMatchObject({ ref: detached.ref });
    await detached.destroy();

    await second.stop();
    await expect(far?.exec("true")).rejects.toMatchObject({
      code: "SANDBOX_LOST",
      provider: "balance",
      sandboxId: far?.ref.id,
    });
    const after = [await create(), await create(), await create()];
    expect(after.map(keyOf)).toEqual(["near", "near", "near"]);
    await expect(listed()).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("far: ") });
    const seen: string[] = [];
    const outage = (async () => {
      for await (const { ref } of provider.list({ labels: label })) seen.push(ref.id);
    })();
    await expect(outage).rejects.toThrow("the sandboxes of the others were listed");
    expect(seen).toHaveLength(5);
    expect(await provider.check()).toMatchObject({
      ok: true,
      detail: expect.stringMatching(/far: not usable.*near: \w/),
    });
    const known = createSandbox(provider, { labels: label, name: "new", lifetime: { detached: true } });
    await expect(known).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining('"new"') });
    expect(health[0]).toMatchObject({ backend: "far", state: "ERROR" });

    await second.start();
    while (health.at(-1)?.state !== "IDLE") await new Promise((resolve) => setTimeout(resolve, 20));
    const last = await create();
    expect(keyOf(last)).toBe("far");
    await Promise.all([...four, ...after, last].map((one) => one.destroy()));
    expect(await listed()).toEqual([]);
    await provider.close?.();
  });
});
