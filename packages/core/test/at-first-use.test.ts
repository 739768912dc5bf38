import { expect, it } from "vitest";
import { atFirstUse } from "../src/at-first-use.js";
import { attachSandbox, createSandbox } from "../src/create-sandbox.js";
import { defineProvider } from "../src/define-provider.js";
import { SandboxError } from "../src/errors.js";
import { capabilities, type Provider, type ProviderWork, workingLater } from "../src/index.js";

/** A provider whose work is missing at first. */
function installedLate(failures: number) {
  let loads = 0;
  const work = atFirstUse(async (): Promise<ProviderWork> => {
    loads += 1;
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (loads <= failures) throw new SandboxError("UNAVAILABLE", "a file of the package is missing");
    const full = async () => {
      throw new SandboxError("QUOTA", "there is no room");
    };
    return { create: full, attach: async () => null, list: async function* () {}, reap: async () => [], check };
  });
  const check = async () => ({ ok: true, detail: "it is there" });
  const provider: Provider = defineProvider({
    name: "late",
    capabilities: capabilities({ isolation: "none", features: { attach: "native", list: "native" } }),
    ...workingLater(work),
  });
  return { provider, loads: () => loads };
}

it("work is loaded once, however many ask for it at the same time", async () => {
  const { provider, loads } = installedLate(0);
  const creates = Array.from({ length: 8 }, () => createSandbox(provider));
  for (const create of creates) await expect(create).rejects.toMatchObject({ code: "QUOTA" });
  const ref = { provider: "late", id: "gone" };
  await expect(attachSandbox(provider, ref)).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(loads()).toBe(1);
});

it("a load that failed fails those who waited for it, and the next call tries again", async () => {
  const { provider, loads } = installedLate(1);
  const [create, check, list] = [
    createSandbox(provider),
    provider.check(),
    provider.list()[Symbol.asyncIterator]().next(),
  ];
  await expect(create).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(list).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await check).toMatchObject({ ok: false, detail: expect.stringContaining("missing") });
  await expect(createSandbox(provider)).rejects.toMatchObject({ code: "QUOTA" });
  expect(await provider.check()).toMatchObject({ ok: true });
  expect(loads()).toBe(2);
});

it("closing what nobody has used loads nothing", async () => {
  const { provider, loads } = installedLate(0);
  await provider.close?.();
  expect(loads()).toBe(0);
});
