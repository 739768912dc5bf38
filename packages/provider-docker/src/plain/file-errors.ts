import { type ErrorCode, SandboxError } from "@sandkit/core";
import { providerName } from "../errors.js";

/** What `guest/files.sh` says went wrong, in the words of the contract. */
const meanings: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ["FILE_NOT_FOUND", "nothing has this name; list the directory to see what is there"],
  ENOTDIR: ["NOT_DIRECTORY", "a part of the path is a file; use a path that leads through directories only"],
  EISDIR: ["IS_DIRECTORY", "it is a directory; list it, or name a file in it"],
  EEXIST: ["FILE_EXISTS", "something has this name already; remove it first or choose another name"],
  ENOTEMPTY: ["FILE_EXISTS", "a directory that is not empty has this name; remove it first"],
  EACCES: [
    "PERMISSION",
    "the user of the sandbox may not do this there; /workspace, /app, /tmp and /tools are open to it",
  ],
  ENOSPC: ["NO_SPACE", "the sandbox is full; remove something, or create one with more resources.diskMiB"],
  EFBIG: ["TOO_LARGE", "the file is larger than the sandbox allows"],
  EINVAL: ["INVALID", "this cannot be done with what has this name"],
  ELOOP: ["INVALID", "its links lead in a circle; name the file itself"],
  ENAMETOOLONG: ["INVALID", "the name is too long"],
  CONFLICT: ["CONFLICT", "the file is not what it was at that time; read it again, then write"],
};

/** The error for one operation on one path. */
export function fileError(reason: string, operation: string, path: string, sandboxId: string): SandboxError {
  const [code, next] = meanings[reason] ?? ["UNAVAILABLE", `the tools of the image could not do it (${reason})`];
  const message = `${operation} ${JSON.stringify(path)}: ${next}`;
  return new SandboxError(code, message, { provider: providerName, operation, sandboxId });
}
