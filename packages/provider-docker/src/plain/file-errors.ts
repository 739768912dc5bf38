import { fromErrno, type SandboxError } from "@sandkit/core";
import { providerName } from "../errors.js";

/** The error for one operation on one path, for what `guest/files.sh` says went wrong: the name of an errno. */
export function fileError(errno: string, operation: string, path: string, sandboxId: string): SandboxError {
  const cause = new Error("the tools of the image could not do it");
  return fromErrno(errno, { operation, subject: JSON.stringify(path), provider: providerName, sandboxId, cause });
}
