import { createSandbox } from "@sandkit/core";
import { docker } from "@sandkit/provider-docker";
import { E2B } from "e2b";
import { describe, expect, it } from "vitest";
import { bareImage, describeOnEngine } from "../../cloud-emulator/test/engine.js";
import { destroyedWhileWoken, goneWhilePaused } from "../../cloud-emulator/test/gone-while-paused.js";
import { type Cloud, startCloud } from "./cloud.js";

function vendor({ emulator }: Cloud): E2B {
  return new E2B({ apiKey: emulator.apiKey, apiUrl: emulator.url, sandboxUrl: emulator.url });
}

const ways = {
  endByVendor: async (cloud: Cloud, id: string) => {
    await vendor(cloud).Sandbox.kill(id);
  },
  pauseByVendor: async (cloud: Cloud, id: string) => {
    await vendor(cloud).Sandbox.pause(id);
  },
  wake: { method: "POST", path: /\/connect$/ },
  remove: { method: "DELETE", path: /^\/sandboxes/ },
} as const;

describe("a paused sandbox that ends", () => {
  goneWhilePaused({ ...ways, start: () => startCloud() });
  destroyedWhileWoken({ ...ways, start: () => startCloud() });

  it("is asked for now and then: what waits in it is told without a resume", { timeout: 40_000 }, async () => {
    await using cloud = await startCloud({}, { leaseMs: 6_000 });
    const sandbox = await createSandbox(cloud.provider);
    const running = sandbox.exec("sleep 60").catch((error) => error);
    await sandbox.exec("true");
    await sandbox.pause();
    await ways.endByVendor(cloud, sandbox.ref.id);
    expect(await running).toMatchObject({ code: "SANDBOX_LOST", message: expect.stringContaining("is gone") });
    await expect(sandbox.exec("true")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
  });
});

describeOnEngine("a paused sandbox in plain mode that ends", () => {
  goneWhilePaused({ ...ways, start: () => startCloud({ provider: docker(), machine: { image: bareImage } }) });
});
