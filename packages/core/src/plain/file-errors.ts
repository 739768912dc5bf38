import { fromErrno } from "../agent/errno.js";
import type { SandboxError } from "../errors.js";
import type { PlainPlace } from "./plain-place.js";

/** The error for one operation on one path, for what `guest/files.sh` says went wrong: the name of an errno. */
export function fileError(
  errno: string,
  operation: string,
  path: string,
  { provider, sandboxId }: PlainPlace,
): SandboxError {
  const cause = new Error("the tools of the image could not do it");
  return fromErrno(errno, { operation, subject: JSON.stringify(path), provider, sandboxId, cause });
}
