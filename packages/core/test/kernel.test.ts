import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { Kernel } from "../src/kernel/kernel.js";
import type { ProviderCell, ProviderKernel } from "../src/provider.js";

/** A provider's interpreter under the test's control, at the border of the contract. */
function providerKernel(changes: Partial<ProviderKernel> = {}) {
  let finish: (cell: ProviderCell) => void = () => undefined;
  const kernel: ProviderKernel = {
    id: "1",
    execute: () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
    interrupt: async () => undefined,
    kill: async () => finish({ exitCode: null, outputs: [], died: "killed" }),
    ...changes,
  };
  return kernel;
}

const quick = async (): Promise<ProviderCell> => ({ exitCode: 0, outputs: [] });

function kernelOver(start: () => Promise<ProviderKernel>) {
  return new Kernel("python", undefined, {
    provider: "test",
    start,
    approve: async () => undefined,
    abandon: async (why) => {
      throw new Error(why);
    },
    onClose: () => undefined,
  });
}

describe("Kernel", () => {
  it("starts one interpreter, though the cell that asked for it was aborted on the way", async () => {
    const start = vi.fn(() => pause(30).then(() => providerKernel({ execute: quick })));
    const kernel = kernelOver(start);
    const stop = new AbortController();
    const first = kernel.run("1", { signal: stop.signal });
    await pause(5);
    stop.abort();
    expect(await first).toMatchObject({ reason: "aborted" });
    expect(await kernel.run("2")).toMatchObject({ reason: "exited" });
    expect(start).toHaveBeenCalledOnce();
  });

  it("ends an interpreter that is ready only after the kernel was closed", async () => {
    const kill = vi.fn(async () => undefined);
    const kernel = kernelOver(() => pause(30).then(() => providerKernel({ kill })));
    const cell = kernel.run("1");
    cell.catch(() => undefined);
    await pause(5);
    await kernel[Symbol.asyncDispose]();
    await expect(cell).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(kill).toHaveBeenCalledOnce();
  });

  it("kills an interpreter whose interrupt fails or hangs", async () => {
    for (const interrupt of [() => Promise.reject(new Error("no route")), () => new Promise<void>(() => undefined)]) {
      const kernel = kernelOver(async () => providerKernel({ interrupt }));
      const cell = await kernel.run("1", { timeoutMs: 10, interruptGraceMs: 10 });
      expect(cell).toMatchObject({ reason: "timeout", exitCode: null, stateLost: true });
    }
  });
});
