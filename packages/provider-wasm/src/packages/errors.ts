import { type ErrorCode, SandboxError } from "@sandkit/core";
import { providerName } from "../errors.js";
import type { DownloadError } from "./download-error.js";

/** A package that cannot be had. The message begins with its name and says why. */
export function packageError(code: ErrorCode, name: string, reason: string, cause?: unknown): SandboxError {
  return new SandboxError(code, `package "${name}": ${reason}`, {
    provider: providerName,
    operation: "packages",
    ...(cause !== undefined && { cause }),
  });
}

const withoutHost = "check the network of this machine, or name a mirror or a directory (packages.wheelDir)";

/** A download for a package that failed. */
export function downloadFailure(name: string, error: DownloadError): SandboxError {
  if (error.status === undefined && error.cause !== undefined) {
    return packageError("UNAVAILABLE", name, `${error.message}: ${withoutHost}`, error);
  }
  if (error.status !== 401 && error.status !== 403) return packageError("UNAVAILABLE", name, error.message, error);
  const reason = `${error.message}: check name and password in the address (packages.indexUrl, or PIP_INDEX_URL)`;
  return packageError("AUTH", name, reason, error);
}

/** Whether something failed because a host could not be reached, and not because of what it said. */
export function isUnreachable(error: unknown): error is SandboxError {
  return error instanceof SandboxError && error.code === "UNAVAILABLE";
}
