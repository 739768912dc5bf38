import { SandboxError } from "@sandkit/core";
import { describe, expect, it } from "vitest";
import { DaytonaConnector } from "../src/client.js";
import { daytonaError, isPassing, retryAfterOf, statusOf } from "../src/errors.js";

const { sdk } = new DaytonaConnector({});
const about = { operation: "create", subject: "sandbox 1", sandboxId: "1" };

describe("errors of Daytona", () => {
  it.each([
    [400, "INVALID", false],
    [401, "AUTH", false],
    [402, "QUOTA", true],
    [404, "NOT_FOUND", false],
    [408, "TIMEOUT", true],
    [409, "CONFLICT", true],
    [413, "TOO_LARGE", false],
    [418, "INVALID", false],
    [422, "INVALID", false],
    [429, "RATE_LIMITED", true],
    [500, "UNAVAILABLE", true],
    [502, "UNAVAILABLE", true],
    [503, "UNAVAILABLE", true],
    [504, "UNAVAILABLE", true],
    [507, "NO_SPACE", false],
    [599, "UNAVAILABLE", true],
  ] as const)("of status %i are %s", (status, code, retryable) => {
    const cause = new sdk.DaytonaError("their words", status);
    const error = daytonaError(cause, about);
    expect(error).toMatchObject({ code, retryable, provider: "daytona", operation: "create", sandboxId: "1", cause });
    expect(error.message).toContain("create sandbox 1: Daytona: their words: ");
    expect(statusOf(error)).toBe(status);
  });

  it("of a forbidden creation are the quota, and of anything else the key", () => {
    const forbidden = new sdk.DaytonaError("Total CPU limit exceeded", 403);
    expect(daytonaError(forbidden, about).code).toBe("QUOTA");
    expect(daytonaError(forbidden, { ...about, operation: "list" }).code).toBe("AUTH");
  });

  it("go by the code of the answer where it says more than the status", () => {
    const missing = new sdk.DaytonaFileNotFoundError(
      "no such file",
      404,
      undefined,
      "FILE_NOT_FOUND",
      "DAYTONA_DAEMON",
    );
    expect(daytonaError(missing, about).code).toBe("FILE_NOT_FOUND");
  });

  it("go by the class where nobody answered", () => {
    expect(daytonaError(new sdk.DaytonaConnectionError("refused"), about).code).toBe("TRANSPORT");
    expect(daytonaError(new sdk.DaytonaConnectionTimeoutError("late"), about).code).toBe("TIMEOUT");
    expect(daytonaError(new sdk.DaytonaTimeoutError("late"), about).code).toBe("TIMEOUT");
    expect(daytonaError(new sdk.DaytonaAuthenticationError("no key"), about).code).toBe("AUTH");
    expect(daytonaError(new Error("odd"), about).code).toBe("UNAVAILABLE");
    expect(daytonaError("odd", about).message).toContain("odd");
  });

  it("of ours pass through", () => {
    const own = new SandboxError("QUOTA", "x");
    expect(daytonaError(own, about)).toBe(own);
  });

  it("say when to come back: seconds, a date, or one of several", () => {
    const limited = (headers: Record<string, string>) =>
      retryAfterOf(daytonaError(new sdk.DaytonaError("slow down", 429, headers as never), about));
    expect(limited({ "retry-after": "3" })).toBe(3_000);
    expect(limited({ "Retry-After-sandbox-create": "7" })).toBe(7_000);
    expect(limited({ "retry-after": new Date(Date.now() + 60_000).toUTCString() })).toBeGreaterThan(50_000);
    expect(limited({})).toBeUndefined();
  });

  it("pass or stay", () => {
    const passing = [429, 500, 502, 503, 504].map((status) => isPassing(new sdk.DaytonaError("x", status)));
    expect(passing).toEqual([true, true, true, true, true]);
    const staying = [400, 401, 402, 403, 404, 409].map((status) => isPassing(new sdk.DaytonaError("x", status)));
    expect(staying).toEqual([false, false, false, false, false, false]);
    expect(isPassing(new sdk.DaytonaConnectionError("reset"))).toBe(true);
    expect(isPassing(new TypeError("ours"))).toBe(false);
  });

  it("hold no page of a proxy", () => {
    const page = `<html>${"\n<p>".repeat(2_000)}`;
    expect(daytonaError(new sdk.DaytonaError(page, 502), about).message.length).toBeLessThan(700);
  });
});
