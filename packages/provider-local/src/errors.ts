import { type ErrorCode, SandboxError } from "@sandkit/core";

/** What an errno of the host means in the words of the contract. Those that are not here are `UNAVAILABLE`. */
const codes: Readonly<Record<string, ErrorCode>> = {
  ENOENT: "FILE_NOT_FOUND",
  EEXIST: "FILE_EXISTS",
  ENOTEMPTY: "FILE_EXISTS",
  EISDIR: "IS_DIRECTORY",
  ENOTDIR: "NOT_DIRECTORY",
  EACCES: "PERMISSION",
  EPERM: "PERMISSION",
  EROFS: "PERMISSION",
  ENOSPC: "NO_SPACE",
  EDQUOT: "NO_SPACE",
  EFBIG: "TOO_LARGE",
  ELOOP: "INVALID",
  EINVAL: "INVALID",
  ENAMETOOLONG: "INVALID",
  EXDEV: "INVALID",
};

const advice: Partial<Record<ErrorCode, string>> = {
  FILE_NOT_FOUND: "nothing has this name; list the directory to see what is there",
  FILE_EXISTS: "something has this name already; remove it first or choose another name",
  IS_DIRECTORY: "it is a directory; list it, or name a file in it",
  NOT_DIRECTORY: "a part of the path is a file; use a path that leads through directories only",
  PERMISSION: "the host does not allow it; check owner and mode",
  NO_SPACE: "the disk of the host is full; free some space",
  TOO_LARGE: "the host does not take a file of this size; split it",
  INVALID: "the host's file system cannot do this; use another path",
};

/** Whether a failure of `node:fs` carries one of these errnos. */
export function hasErrno(reason: unknown, ...names: readonly string[]): reason is NodeJS.ErrnoException {
  return reason instanceof Error && "code" in reason && names.includes(String(reason.code));
}

/** Makes the error of the contract from the errno of a failed call on something, as its message calls it. */
export function fromErrno(errno: string | undefined, operation: string, subject: string, cause?: unknown) {
  const code = codes[errno ?? ""] ?? "UNAVAILABLE";
  const next = advice[code] ?? "see the cause";
  return failure(code, operation, `${operation} ${subject}: ${errno ?? "failed"}: ${next}`, cause);
}

/** Runs a step on the host's file system; whatever it throws leaves as a `SandboxError`. */
export async function onPath<T>(operation: string, path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (reason) {
    if (reason instanceof SandboxError || !(reason instanceof Error && "errno" in reason)) throw reason;
    throw fromErrno((reason as NodeJS.ErrnoException).code, operation, JSON.stringify(path), reason);
  }
}

/** An error of this provider. */
export function failure(code: ErrorCode, operation: string, message: string, cause?: unknown): SandboxError {
  return new SandboxError(code, message, { provider: "local", operation, cause });
}
