import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createSandbox } from "@sandkit/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createProvider, e2b, optionsSchema } from "../src/index.js";

describe("without a key", () => {
  beforeEach(() => vi.stubEnv("E2B_API_KEY", undefined));
  afterEach(() => vi.unstubAllEnvs());

  it("the provider is made, and its first use says which variable is missing", async () => {
    const provider = e2b();
    const missing = { code: "AUTH", retryable: false, message: expect.stringContaining("E2B_API_KEY") };
    await expect(createSandbox(provider)).rejects.toMatchObject(missing);
    await expect(provider.attach({ provider: "e2b", id: "i" })).rejects.toMatchObject(missing);
    await expect(provider.list()[Symbol.asyncIterator]().next()).rejects.toMatchObject(missing);
    await expect(provider.reap({ olderThanMs: 0 })).rejects.toMatchObject(missing);
  });

  it("check says how to get one", async () => {
    expect(await e2b().check()).toMatchObject({ ok: false, fix: [expect.stringContaining("E2B_API_KEY")] });
  });
});

it("refuses options that are none, by name", () => {
  expect(() => e2b({ leaseMs: 0 })).toThrow(expect.objectContaining({ code: "INVALID" }));
  expect(() => createProvider({ key: "k" } as object)).toThrow(/key/);
  expect(optionsSchema.safeParse({ apiUrl: "localhost:3000" }).success).toBe(false);
});

it.each([
  ["memoryMiB", { memoryMiB: 64 }],
  ["cpus", { cpus: 1 }],
  ["diskMiB", { diskMiB: 64 }],
  ["pids", { pids: 16 }],
])("resources.%s is UNSUPPORTED by name: the template fixes it", async (name, resources) => {
  const creation = createSandbox(e2b({ apiKey: "unused" }), { resources });
  await expect(creation).rejects.toMatchObject({
    code: "UNSUPPORTED",
    message: expect.stringContaining(`resources.${name}`),
  });
});

it("a longer life than E2B gives is INVALID", async () => {
  const creation = createSandbox(e2b({ apiKey: "unused" }), { lifetime: { ttlMs: 25 * 60 * 60_000 } });
  await expect(creation).rejects.toMatchObject({ code: "INVALID", message: expect.stringContaining("ttlMs") });
});

it("does not load the SDK before it is needed", async () => {
  const program = `
    import { createRequire } from "node:module";
    const { e2b } = await import("@sandkit/provider-e2b");
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes("/e2b/dist/"));
    const before = loaded();
    await e2b({ apiKey: "k", apiUrl: "http://127.0.0.1:9" }).check();
    console.log(before, loaded());
  `;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { cwd: import.meta.dirname });
  expect(stdout).toBe("false true\n");
});
