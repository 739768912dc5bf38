import { createSandbox } from "@sandkit/core";
import { describe, expect, it } from "vitest";
import { createProvider, optionsSchema, wasm } from "../src/index.js";

describe("wasm()", () => {
  it("is made by createProvider from options that its schema describes", () => {
    expect(createProvider({ memoryMiB: 128 }).name).toBe("wasm");
    expect(optionsSchema.parse({ diskMiB: 10 })).toEqual({ diskMiB: 10 });
    expect(() => wasm({ memoryMiB: 1 })).toThrow(
      expect.objectContaining({ code: "INVALID", message: expect.stringContaining("memoryMiB") }),
    );
    expect(() => wasm({ memory: 1 } as object)).toThrow(
      expect.objectContaining({ code: "INVALID", message: expect.stringContaining("memory") }),
    );
  });

  it("says what it found", async () => {
    const check = await wasm().check();
    expect(check.ok).toBe(true);
    expect(check.detail).toMatch(
      /Pyodide 314\.0\.7 with snapshot, Node \d+\.\d+\.\d+ with --(?:experimental-)?permission/,
    );
  });

  it("refuses what it cannot honour, by name, before anything is made", async () => {
    const refusals = [
      { options: { image: "python:3.12" }, code: "UNSUPPORTED", text: "image" },
      { options: { template: "node" }, code: "INVALID", text: "python-3.14" },
      { options: { native: {} }, code: "UNSUPPORTED", text: "native" },
      { options: { resources: { memoryMiB: 8 } }, code: "INVALID", text: "memoryMiB" },
      { options: { workdir: "/lib/x" }, code: "INVALID", text: "/lib" },
      { options: { network: "full" }, code: "UNSUPPORTED", text: "network" },
      { options: { template: "typescript", packages: ["leaf"] }, code: "UNSUPPORTED", text: 'template "python"' },
      { options: { resources: { cpus: 1 } }, code: "UNSUPPORTED", text: "resources.cpus" },
    ] as const;
    for (const { options, code, text } of refusals) {
      await expect(createSandbox(wasm(), options)).rejects.toMatchObject({
        code,
        message: expect.stringContaining(text),
      });
    }
  });
});
