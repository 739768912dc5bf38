import { setTimeout as sleep } from "node:timers/promises";
import type { FaultRule } from "@sandkit/cloud-emulator";
import { attachSandbox, createSandbox, type Sandbox } from "@sandkit/core";
import { afterEach, expect, it } from "vitest";
import { type BadCloud, eventually, living } from "./bad-days.js";

/** How a sandbox at one cloud rests, and ends meanwhile. */
export interface Rests<Cloud extends BadCloud> {
  start(): Promise<Cloud>;
  /** The vendor's own way to a sandbox, as its dashboard has it. */
  endByVendor(cloud: Cloud, id: string): Promise<void>;
  pauseByVendor(cloud: Cloud, id: string): Promise<void>;
  /** The requests that wake one, and that remove one. */
  readonly wake: Pick<FaultRule, "method" | "path">;
  readonly remove: Pick<FaultRule, "method" | "path">;
}

const limit = { timeout: 40_000 };
const shared = { lifetime: { detached: true } };

/** What a client hears of a sandbox that ends while it is paused: its end, for certain, and never that it is to be resumed. */
export function goneWhilePaused<Cloud extends BadCloud>(rests: Rests<Cloud>): void {
  const start = startsOf(rests);
  const ended = async (sandbox: Sandbox) => {
    await expect(sandbox.exec("true")).rejects.toMatchObject({ code: expect.stringMatching(/NOT_FOUND|SANDBOX_LOST/) });
    expect((await sandbox.info()).state).toBe("gone");
    await sandbox.destroy();
  };

  it("its removal by somebody else is told at the resume, also to what runs in it", limit, async () => {
    const cloud = await start();
    const sandbox = await createSandbox(cloud.provider);
    const running = sandbox.exec("sleep 60").catch((error) => error);
    await sandbox.exec("true");
    await sandbox.pause();
    await rests.endByVendor(cloud, sandbox.ref.id);
    const gone = { code: expect.stringMatching(/NOT_FOUND|SANDBOX_LOST/), retryable: false };
    await expect(sandbox.resume()).rejects.toMatchObject(gone);
    expect(await running).toMatchObject({ code: "SANDBOX_LOST" });
    await ended(sandbox);
  });

  it("likewise where somebody else had paused it", limit, async () => {
    const cloud = await start();
    const sandbox = await createSandbox(cloud.provider);
    const running = sandbox.exec("sleep 60").catch((error) => error);
    await sandbox.exec("true");
    await rests.pauseByVendor(cloud, sandbox.ref.id);
    await eventually("it is found paused", () =>
      sandbox.exec("true").then(
        () => false,
        ({ code }) => code === "UNAVAILABLE",
      ),
    );
    await rests.endByVendor(cloud, sandbox.ref.id);
    await expect(sandbox.resume()).rejects.toMatchObject({ code: expect.stringMatching(/NOT_FOUND|SANDBOX_LOST/) });
    expect(await running).toMatchObject({ code: "SANDBOX_LOST" });
    await ended(sandbox);
  });

  it("who found it paused is told so at the resume", limit, async () => {
    const cloud = await start();
    const sandbox = await createSandbox(cloud.provider, shared);
    await sandbox.pause();
    const found = await attachSandbox(cloud.other(), sandbox.ref);
    await rests.endByVendor(cloud, sandbox.ref.id);
    await expect(found.resume()).rejects.toMatchObject({
      code: expect.stringMatching(/NOT_FOUND|SANDBOX_LOST/),
      message: expect.stringContaining("create a new one"),
    });
    expect((await found.info()).state).toBe("gone");
    await found.destroy();
  });

  it("one whose time is over meanwhile has EXPIRED, and is removed", limit, async () => {
    const cloud = await start();
    const sandbox = await createSandbox(cloud.provider, { lifetime: { ttlMs: 4_000 } });
    await sandbox.pause();
    await sleep(4_200);
    const outcome = await sandbox
      .resume()
      .then(() => sandbox.exec("sleep 5"))
      .catch((error) => error);
    expect(outcome).toMatchObject({ code: "EXPIRED" });
    await eventually("it is removed", async () => (await living(cloud.provider)).length === 0);
    expect((await sandbox.info()).state).toBe("gone");
  });
}

/** What is woken by one call and destroyed by another is gone, whichever comes first. */
export function destroyedWhileWoken<Cloud extends BadCloud>(rests: Rests<Cloud>): void {
  const start = startsOf(rests);
  it.each(["resume", "destroy"] as const)(
    "one that is woken and destroyed at one time, %s first, is gone",
    limit,
    async (first) => {
      const cloud = await start();
      const sandbox = await createSandbox(cloud.provider, shared);
      await sandbox.pause();
      const found = await attachSandbox(cloud.other(), sandbox.ref);
      cloud.emulator.faults.add({ ...(first === "resume" ? rests.wake : rests.remove), delayMs: 1_500 });
      const calls = { resume: () => found.resume().catch((error) => error), destroy: () => found.destroy() };
      const begun = calls[first]();
      await sleep(300);
      const [outcome] = await Promise.all(first === "resume" ? [begun, calls.destroy()] : [calls.resume(), begun]);
      // It may have been woken before its end.
      if (first === "destroy") expect(outcome).toMatchObject({ code: "NOT_FOUND" });
      expect(await living(cloud.provider)).toEqual([]);
      await expect(found.exec("true")).rejects.toMatchObject({ code: "NOT_FOUND" });
      await expect(found.resume()).rejects.toMatchObject({ code: "NOT_FOUND" });
      expect(cloud.emulator.faults.pending).toBe(0);
    },
  );
}

/** Starts clouds that end with their tests. */
function startsOf<Cloud extends BadCloud>(rests: Rests<Cloud>): () => Promise<Cloud> {
  const clouds: Cloud[] = [];
  afterEach(() => Promise.all(clouds.splice(0).map((cloud) => cloud[Symbol.asyncDispose]())));
  return async () => {
    const cloud = await rests.start();
    clouds.push(cloud);
    return cloud;
  };
}
