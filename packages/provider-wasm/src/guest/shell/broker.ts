import { host } from "./globals.js";

/** Bytes that one call carries. */
export const chunkBytes = 256 * 1024;

/** A failure of the broker's file system, by its POSIX name. */
export class FileFailure extends Error {
  readonly code: string;
  /** As a shell says it. */
  readonly reason: string;

  constructor(code: string, operation: string, path: string) {
    const description = descriptions[code] ?? "failed";
    super(`${code}: ${description}, ${operation} '${path}'`);
    this.code = code;
    this.reason = (description[0] ?? "").toUpperCase() + description.slice(1);
  }
}

/** Asks the broker, and blocks until it answers. */
export function ask<Result>(operation: string, args: readonly unknown[], data?: Uint8Array, send = false): Result {
  return JSON.parse(host.call(operation, JSON.stringify(args), data ?? null, send)) as Result;
}

/** Asks for an operation on files. @throws FileFailure for `path` */
export function askFiles<Result>(
  operation: string,
  path: string,
  args: readonly unknown[],
  data?: Uint8Array,
  send = false,
): Result {
  const reply = ask<{ error: string } | { result: Result }>(`fs.${operation}`, args, data, send);
  if ("error" in reply) throw new FileFailure(reply.error, operation, path);
  return reply.result;
}

const descriptions: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EEXIST: "file already exists",
  ENOTDIR: "not a directory",
  EISDIR: "is a directory",
  ENOTEMPTY: "directory not empty",
  EINVAL: "invalid argument",
  ENOSPC: "no space left on device",
  ELOOP: "too many levels of symbolic links",
  ENAMETOOLONG: "file name too long",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EFBIG: "file too large",
  EXDEV: "cross-device link not permitted",
};
