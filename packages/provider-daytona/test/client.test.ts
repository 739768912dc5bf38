import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createSandbox } from "@sandkit/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { daytona } from "../src/index.js";

const built = pathToFileURL(join(import.meta.dirname, "../dist/index.js")).href;
const run = promisify(execFile);

afterEach(() => vi.unstubAllEnvs());

describe("without a key", () => {
  it("the first use is AUTH and names the variable; nothing before is", async () => {
    vi.stubEnv("DAYTONA_API_KEY", undefined);
    const provider = daytona();
    expect(() => provider.validate({})).not.toThrow();
    const auth = { code: "AUTH", message: expect.stringContaining("DAYTONA_API_KEY") };
    await expect(createSandbox(provider)).rejects.toMatchObject(auth);
    await expect(provider.attach({ provider: "daytona", id: "1" })).rejects.toMatchObject(auth);
    await expect(provider.reap({ olderThanMs: 0 })).rejects.toMatchObject(auth);
    expect(await provider.check()).toMatchObject({ ok: false, detail: auth.message, fix: expect.any(Array) });
    await provider.close?.();
  });
});

describe("the SDK", () => {
  it("is not loaded with the package, nor by making a provider", async () => {
    const program = `
      const { daytona } = await import(${JSON.stringify(built)});
      daytona({ apiKey: "k" });
      const { createRequire } = await import("node:module");
      const loaded = Object.keys(createRequire(${JSON.stringify(built)}).cache ?? {});
      console.log(loaded.filter((path) => path.includes("daytonaio")).length);
    `;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program]);
    expect(stdout).toBe("0\n");
  });

  it("neither traces nor takes a region from a file in the working directory", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sandkit-daytona-"));
    try {
      const lines = ["DAYTONA_OTEL_ENABLED=true", "DAYTONA_TARGET=elsewhere", "DAYTONA_API_KEY=stolen"];
      await writeFile(join(folder, ".env"), lines.join("\n"));
      const program = `
        const { daytona } = await import(${JSON.stringify(built)});
        const before = process.listenerCount("SIGTERM");
        const provider = daytona({ apiKey: "k", apiUrl: "http://127.0.0.1:9" });
        const { ok } = await provider.check();
        console.log(ok, process.listenerCount("SIGTERM") - before, process.env.DAYTONA_OTEL_ENABLED);
      `;
      const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { cwd: folder });
      expect(stdout).toBe("false 0 undefined\n");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("does not keep a program alive after a failure", async () => {
    const program = `
      const { daytona } = await import(${JSON.stringify(built)});
      const { detail } = await daytona({ apiKey: "k", apiUrl: "http://127.0.0.1:9" }).check();
      console.log(detail);
    `;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { timeout: 20_000 });
    expect(stdout).toMatch(/check sandboxes: Daytona: .*apiUrl/);
  });
});
