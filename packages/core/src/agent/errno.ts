import { type ErrorCode, SandboxError } from "../errors.js";

/** What an errno means in the words of the contract. Those that are not here are `UNAVAILABLE`. */
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
  E2BIG: "TOO_LARGE",
  ESTALE: "CONFLICT",
  ENOTSUP: "UNSUPPORTED",
  EAGAIN: "QUOTA",
  EMFILE: "QUOTA",
  ENOMEM: "QUOTA",
  ELOOP: "INVALID",
  EINVAL: "INVALID",
  EILSEQ: "INVALID",
  ENAMETOOLONG: "INVALID",
  EXDEV: "INVALID",
  EBUSY: "INVALID",
};

const advice: Partial<Record<ErrorCode, string>> = {
  FILE_NOT_FOUND: "nothing has this name; list the directory to see what is there",
  FILE_EXISTS: "something has this name already; remove it first or choose another name",
  IS_DIRECTORY: "it is a directory; list it, or name a file in it",
  NOT_DIRECTORY: "a part of the path is a file; use a path that leads through directories only",
  PERMISSION: "the sandbox does not allow it; use a path below its workdir, or check owner and mode",
  NO_SPACE: "the writable space of the sandbox is full; remove files, or create it with more",
  TOO_LARGE: "it is larger than the sandbox takes; split it",
  CONFLICT: "the file was changed meanwhile; read it again",
  UNSUPPORTED: "this sandbox has nothing for it; use another image",
  QUOTA: "the sandbox has no room for it now; wait until something else has ended",
  INVALID: "the file system of the sandbox cannot do this; use another path",
};

/** The error of the contract for an errno, about something as its message calls it. */
export function fromErrno(
  errno: string,
  call: { readonly operation: string; readonly subject: string; readonly provider: string; readonly cause?: unknown },
): SandboxError {
  const code = codes[errno] ?? "UNAVAILABLE";
  const { operation, subject, provider, cause } = call;
  const next = advice[code] ?? "see the cause";
  return new SandboxError(code, `${operation} ${subject}: ${errno}: ${next}`, { provider, operation, cause });
}
