import { type ErrorCode, SandboxError } from "@sandkit/core";
import { fromErrno } from "@sandkit/core/kit";

/** Name of this provider, in refs and errors. */
export const providerName = "local";

/** Whether a failure of `node:fs` carries one of these errnos. */
export function hasErrno(reason: unknown, ...names: readonly string[]): reason is NodeJS.ErrnoException {
  return reason instanceof Error && "code" in reason && names.includes(String(reason.code));
}

/** Runs a step on the host's file system; whatever it throws leaves as a `SandboxError`. */
export async function onPath<T>(operation: string, path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (reason) {
    if (reason instanceof SandboxError || !(reason instanceof Error && "errno" in reason)) throw reason;
    const about = { operation, subject: JSON.stringify(path), provider: providerName, cause: reason };
    throw fromErrno((reason as NodeJS.ErrnoException).code ?? "failed", about);
  }
}

/** An error of this provider. */
export function failure(code: ErrorCode, operation: string, message: string, cause?: unknown): SandboxError {
  return new SandboxError(code, message, { provider: providerName, operation, cause });
}
