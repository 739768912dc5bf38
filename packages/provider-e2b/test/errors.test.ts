import * as sdk from "e2b";
import { describe, expect, it } from "vitest";
import { e2bError, isPassing, isRefusal } from "../src/errors.js";

const about = { operation: "create", subject: "a sandbox", sandboxId: "i1" };

function withStatus(status: number, words = "words"): Error {
  return Object.assign(new sdk.SandboxError(`${status}: ${words}`), { statusCode: status });
}

describe("an error of the SDK", () => {
  it.each([
    [new sdk.AuthenticationError("Unauthorized"), "AUTH", false],
    [new sdk.RateLimitError("Rate limit exceeded"), "RATE_LIMITED", true],
    [new sdk.RateLimitError("you have reached the maximum number of concurrent E2B sandboxes (20)"), "QUOTA", true],
    [new sdk.ServiceBusyError("busy"), "UNAVAILABLE", true],
    [new sdk.InvalidArgumentError("no"), "INVALID", false],
    [new sdk.TemplateError("old"), "INVALID", false],
    [new sdk.NotEnoughSpaceError("full"), "NO_SPACE", false],
    [new sdk.FileNotFoundError("no"), "FILE_NOT_FOUND", false],
    [new sdk.SandboxNotFoundError("no"), "NOT_FOUND", false],
    [new sdk.TimeoutError("502"), "UNAVAILABLE", true],
    [new DOMException("late", "TimeoutError"), "TIMEOUT", true],
    [withStatus(400), "INVALID", false],
    [withStatus(403), "AUTH", false],
    [withStatus(404), "NOT_FOUND", false],
    [withStatus(409), "CONFLICT", true],
    [withStatus(500), "UNAVAILABLE", true],
    [withStatus(502), "UNAVAILABLE", true],
    [withStatus(504), "UNAVAILABLE", true],
    [withStatus(507), "NO_SPACE", false],
    [
      new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) }),
      "UNAVAILABLE",
      true,
    ],
    [
      new TypeError("terminated", { cause: Object.assign(new Error("no"), { code: "UND_ERR_SOCKET" }) }),
      "TRANSPORT",
      true,
    ],
    ["anything", "TRANSPORT", true],
  ])("%o is %s", (reason, code, retryable) => {
    expect(e2bError(reason, about)).toMatchObject({ code, retryable, cause: reason, provider: "e2b", sandboxId: "i1" });
  });

  it("tells in one line what failed, on what, and what to do", () => {
    const { message } = e2bError(new sdk.AuthenticationError("Unauthorized,\n  sorry"), about);
    expect(message).toBe("create a sandbox: Unauthorized, sorry: check E2B_API_KEY, or the option apiKey");
  });
});

it("takes nobody reached for a refusal, and a lost answer for none", () => {
  const failed = (code: string, syscall: string) => Object.assign(new Error("no"), { code, syscall });
  const tried = (...errors: Error[]) => Object.assign(new AggregateError(errors), { code: "ETIMEDOUT" });
  const causes = {
    connecting: [failed("ETIMEDOUT", "connect"), failed("EHOSTUNREACH", "connect"), failed("ENOTFOUND", "getaddrinfo")],
    allAddresses: [tried(failed("ETIMEDOUT", "connect"), failed("ENETUNREACH", "connect"))],
    later: [failed("ETIMEDOUT", "read"), failed("ENETUNREACH", "write"), failed("ECONNRESET", "read"), tried()],
  };
  const refused = (given: readonly Error[]) =>
    given.map((cause) => e2bError(new TypeError("fetch failed", { cause }), about)).map(isRefusal);
  expect(refused([...causes.connecting, ...causes.allAddresses])).toEqual([true, true, true, true]);
  expect(refused(causes.later)).toEqual([false, false, false, false]);
});

it("tells what may pass soon, and after what nothing was done", () => {
  const kinds = [withStatus(500), new sdk.RateLimitError("slow"), new sdk.ServiceBusyError("busy"), withStatus(400)];
  const errors = kinds.map((kind) => e2bError(kind, about));
  expect(errors.map(isPassing)).toEqual([true, true, true, false]);
  expect(errors.map(isRefusal)).toEqual([false, true, true, false]);
  const quota = e2bError(new sdk.RateLimitError("maximum number of concurrent E2B sandboxes"), about);
  expect([isPassing(quota), isRefusal(quota)]).toEqual([false, false]);
});
