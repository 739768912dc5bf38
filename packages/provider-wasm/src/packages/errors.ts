import { type ErrorCode, SandboxError } from "@sandkit/core";
import { providerName } from "../errors.js";

/** A package that cannot be had. The message begins with its name and says why. */
export function packageError(code: ErrorCode, name: string, reason: string, cause?: unknown): SandboxError {
  return new SandboxError(code, `package "${name}": ${reason}`, {
    provider: providerName,
    operation: "packages",
    ...(cause !== undefined && { cause }),
  });
}

/** Whether something failed because a host could not be reached, and not because of what it said. */
export function isUnreachable(error: unknown): error is SandboxError {
  return error instanceof SandboxError && error.code === "UNAVAILABLE";
}
