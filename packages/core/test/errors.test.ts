import { describe, expect, it } from "vitest";
import { capabilities, requireFeature } from "../src/capabilities.js";
import { SandboxError, toSandboxError } from "../src/errors.js";
import { execResult, exitStatus } from "../src/result.js";

describe("SandboxError", () => {
  it("keeps its cause and says whether a retry makes sense", () => {
    const cause = new Error("socket");
    const error = new SandboxError("TRANSPORT", "the channel broke", { cause, provider: "x" });
    expect(error).toMatchObject({ code: "TRANSPORT", retryable: true, cause, provider: "x", name: "SandboxError" });
    expect(new SandboxError("INVALID", "no").retryable).toBe(false);
  });

  it("is recognised across two copies of the package", () => {
    const foreign = Object.defineProperty(new Error("other copy"), Symbol.for("sandkit.SandboxError"), { value: true });
    expect(foreign).toBeInstanceOf(SandboxError);
    expect(new Error("plain")).not.toBeInstanceOf(SandboxError);
  });

  it("wraps anything thrown once", () => {
    const error = toSandboxError(new Error("x"), "UNAVAILABLE");
    expect(error).toMatchObject({ code: "UNAVAILABLE", message: "x" });
    expect(toSandboxError(error, "INVALID")).toBe(error);
    expect(toSandboxError("text", "INVALID").message).toBe("text");
  });
});

describe("requireFeature", () => {
  it("names the option, the feature and the provider", () => {
    const owner = { name: "toy", capabilities: capabilities({ isolation: "none", features: { exec: "native" } }) };
    expect(() => requireFeature(owner, "exec", "exec")).not.toThrow();
    expect(() => requireFeature(owner, "ports", 'option "ports"')).toThrow(/option "ports".*"ports".*"toy"/);
  });
});

describe("exitStatus", () => {
  it.each([
    [{ reason: "exited", exitCode: 3 }, 3],
    [{ reason: "signaled", exitCode: null, signal: "SIGTERM" }, 143],
    [{ reason: "timeout", exitCode: null, signal: "SIGKILL" }, 124],
    [{ reason: "oom", exitCode: null }, 137],
    [{ reason: "aborted", exitCode: null }, 130],
  ] as const)("gives one number for %j", (result, status) => {
    expect(exitStatus(result)).toBe(status);
  });
});

describe("orThrow", () => {
  const output = { bytes: new Uint8Array(), text: "boom\n", totalBytes: 5, truncated: false };
  const facts = { stdout: output, stderr: output, stderrMerged: false, durationMs: 1 };

  it("returns an ok result", () => {
    const result = execResult({ ...facts, exitCode: 0, reason: "exited" }, "true", "toy");
    expect(result.orThrow()).toBe(result);
  });

  it("throws COMMAND_FAILED with the result and what the program said", () => {
    const result = execResult({ ...facts, exitCode: 2, reason: "exited" }, ["x", "y"], "toy");
    expect(() => result.orThrow()).toThrow(expect.objectContaining({ code: "COMMAND_FAILED", result }));
    expect(() => result.orThrow()).toThrow('exited with 2: ["x","y"]: boom');
  });
});
