import { type ErrorCode, SandboxError } from "@sandkit/core";

/** Name of this provider, in refs and errors. */
export const providerName = "wasm";

/** What the broker's failures mean to users. */
const codes: Readonly<Record<string, { readonly code: ErrorCode; readonly text: string }>> = {
  ENOENT: { code: "FILE_NOT_FOUND", text: "there is no such file or directory" },
  EEXIST: { code: "FILE_EXISTS", text: "something has that name already" },
  ENOTEMPTY: { code: "FILE_EXISTS", text: "the directory of that name is not empty" },
  ENOTDIR: { code: "NOT_DIRECTORY", text: "a part of the path is not a directory" },
  EISDIR: { code: "IS_DIRECTORY", text: "it is a directory" },
  EACCES: { code: "PERMISSION", text: "the interpreter keeps this path to itself" },
  EBADMSG: { code: "INVALID", text: "the archive is damaged" },
  EBUSY: { code: "PERMISSION", text: "it is the root of the file system" },
  ENOSPC: { code: "NO_SPACE", text: "the disk of the sandbox is full: remove files, or create with more diskMiB" },
  EFBIG: { code: "TOO_LARGE", text: "no file can be that large" },
  E2BIG: {
    code: "TOO_LARGE",
    text: "it holds too much for one listing: list its parts, or give a maxDepth",
  },
  EOVERFLOW: { code: "TOO_LARGE", text: "the record of a package in it is too long to be followed: remove its files" },
  ESTALE: { code: "CONFLICT", text: "it was changed since: read it again" },
  ELOOP: { code: "INVALID", text: "its symbolic links lead in a circle" },
  ENAMETOOLONG: { code: "INVALID", text: "a name in it is longer than 255 bytes" },
  EINVAL: { code: "INVALID", text: "that cannot be done with it" },
};

/** What a call was about, for its errors. */
export interface CallContext {
  readonly operation: string;
  readonly sandboxId: string;
  /** The path or name concerned. */
  readonly subject?: string | undefined;
}

/** Turns a failure that the child reports into one of ours. */
export function childError(errno: string, message: string, context: CallContext): SandboxError {
  const known = codes[errno];
  const details = { provider: providerName, operation: context.operation, sandboxId: context.sandboxId };
  if (!known) return new SandboxError("TRANSPORT", `the sandbox's broker failed: ${message}`, details);
  if (context.operation === "spawn" && errno === "ENOENT") {
    const message = `the working directory ${JSON.stringify(context.subject)} does not exist: make it, or name another`;
    return new SandboxError(known.code, message, details);
  }
  const subject = context.subject === undefined ? "" : ` ${JSON.stringify(context.subject)}`;
  return new SandboxError(known.code, `${context.operation}${subject}: ${known.text}`, details);
}

/** The sandbox's process is gone, and everything in it. */
export function lostError(reason: string, context: CallContext): SandboxError {
  return new SandboxError(
    "SANDBOX_LOST",
    `${context.operation}: sandbox ${context.sandboxId} is lost (${reason}): create a new one`,
    { provider: providerName, operation: context.operation, sandboxId: context.sandboxId },
  );
}

/** An option or request that this provider does not honour. */
export function refusal(code: "UNSUPPORTED" | "INVALID", message: string, operation: string): SandboxError {
  return new SandboxError(code, message, { provider: providerName, operation });
}
