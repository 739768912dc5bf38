import { createSandbox } from "@sandkit/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { local } from "../src/index.js";

describe("local", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it("refuses to load outside tests and says why", () => {
    vi.stubEnv("VITEST", "");
    expect(() => local()).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE", message: expect.stringContaining("isolates nothing") }),
    );
    vi.stubEnv("SANDKIT_ALLOW_LOCAL", "1");
    expect(local().name).toBe("local");
  });

  it("says how to fix a missing Python, from check and from create", async () => {
    const provider = local({ python: "/nonexistent/python3" });
    const check = await provider.check();
    expect(check).toMatchObject({ ok: false, detail: expect.stringContaining("/nonexistent/python3") });
    expect(check.fix?.[0]).toContain("apt-get install python3");
    await expect(createSandbox(provider)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it("accepts the templates it has and refuses what it cannot honour by name", async () => {
    for (const template of ["python", "bash"]) {
      await (await createSandbox(local(), { template })).destroy();
    }
    await expect(createSandbox(local(), { template: "python-3.12" })).rejects.toMatchObject({ code: "INVALID" });
    await expect(createSandbox(local(), { image: "debian" })).rejects.toMatchObject({ code: "UNSUPPORTED" });
    await expect(createSandbox(local(), { workdir: "/tmp/any" })).rejects.toMatchObject({ code: "UNSUPPORTED" });
    await expect(createSandbox(local(), { native: {} })).rejects.toMatchObject({ code: "UNSUPPORTED" });
    await expect(createSandbox(local(), { network: "none" })).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });
});
