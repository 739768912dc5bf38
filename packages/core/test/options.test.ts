import { describe, expect, it } from "vitest";
import { SandboxError } from "../src/errors.js";
import { checkOptions } from "../src/options.js";
import { resolvePath } from "../src/paths.js";

function refusal(operation: Parameters<typeof checkOptions>[0], options: unknown): SandboxError | undefined {
  try {
    checkOptions(operation, options);
    return undefined;
  } catch (error) {
    if (error instanceof SandboxError) return error;
    throw error;
  }
}

describe("checkOptions", () => {
  it.each([
    ["create", { imge: "x" }, "imge"],
    ["create", { resources: { memoryMb: 5 } }, "memoryMb"],
    ["create", { resources: { memoryMiB: 1.5 } }, "resources.memoryMiB"],
    ["create", { env: { "A=B": "x" } }, "env.A=B"],
    ["create", { env: { A: "x\0y" } }, "env.A"],
    ["create", { name: "../x" }, "name"],
    ["create", { workdir: "relative" }, "workdir"],
    ["create", { network: "some" }, '"packages", "full" or { allow'],
    ["create", { network: { allow: "example.com" } }, '"packages", "full" or { allow'],
    ["create", { ports: [0] }, "ports.0"],
    ["exec", { timeoutMs: 0 }, "timeoutMs"],
    ["exec", { timeoutMs: "5" }, "timeoutMs"],
    ["exec", { signal: {} }, "signal"],
    ["exec", { stdin: 5 }, "stdin"],
    ["exec", { pty: { columns: 80, rows: 24 } }, "pty"],
    ["runCode", { language: "cobol" }, "language"],
    ["write", { permissions: 0o17777 }, "permissions"],
  ] as const)("refuses %s with %j, naming it", (operation, options, named) => {
    const error = refusal(operation, options);
    expect(error?.code).toBe("INVALID");
    expect(error?.message).toContain(named);
    // What it is to be instead stands there too.
    expect(error?.message).not.toMatch(/Invalid input(;|$)/);
  });

  it("accepts options that are there but undefined", () => {
    expect(refusal("exec", { timeoutMs: undefined, cwd: undefined })).toBeUndefined();
  });
});

describe("resolvePath", () => {
  it.each([
    ["a.txt", "/work/a.txt"],
    ["/abs", "/abs"],
    ["a/../b", "/work/b"],
    ["../../..", "/"],
    ["dir/", "/work/dir"],
    [" ", "/work/ "],
    ["-rf", "/work/-rf"],
    ["a\nb", "/work/a\nb"],
  ])("resolves %j to %j", (path, absolute) => {
    expect(resolvePath("/work", path, "test")).toBe(absolute);
  });

  it.each(["", "a\0b"])("refuses %j", (path) => {
    expect(() => resolvePath("/work", path, "test")).toThrow(SandboxError);
  });
});
