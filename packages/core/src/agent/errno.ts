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

/** Of the words of a box, which may be anything. */
const maxWords = 1_000;
/** Codes that say too little without the words of what failed. */
const vague: ReadonlySet<ErrorCode> = new Set(["INVALID", "UNAVAILABLE"]);

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
  INVALID: "the sandbox cannot do this; use another path or value",
  UNAVAILABLE: "try again, or create a new sandbox",
};

/** What a call was about, for its error. */
export interface ErrnoContext {
  readonly operation: string;
  /** As the message calls it: `"/etc/passwd"`, `sandbox 7f3a`. */
  readonly subject: string;
  readonly provider: string;
  readonly sandboxId?: string | undefined;
  /** What to do next, where that is known better than by the code. */
  readonly next?: string | undefined;
  /** What failed; its message is told where the errno says too little. */
  readonly cause?: Error | undefined;
}

/** The error of the contract for an errno of a box: `ENOENT` is `FILE_NOT_FOUND`. What to do next is in its message. */
export function fromErrno(errno: string, { subject, next, ...details }: ErrnoContext): SandboxError {
  const code = codes[errno] ?? "UNAVAILABLE";
  const said = vague.has(code) && details.cause?.message.slice(0, maxWords).replace(/\s+/g, " ");
  const parts = [`${details.operation} ${subject}`, errno, said, next ?? advice[code]];
  return new SandboxError(code, parts.filter(Boolean).join(": "), details);
}
