import { posix } from "node:path";
import { SandboxError } from "./errors.js";

/**
 * The absolute, normalised form of a path; relative ones resolve against `workdir`. Every name is allowed but one
 * with NUL. `..` is taken literally, before links are followed.
 * @throws SandboxError `INVALID` for an empty path or one with NUL
 */
export function resolvePath(workdir: string, path: string, operation: string): string {
  if (typeof path !== "string" || path === "") {
    throw new SandboxError("INVALID", `${operation} needs a path, not ${JSON.stringify(path) ?? typeof path}`, {
      operation,
    });
  }
  if (path.includes("\0")) {
    throw new SandboxError("INVALID", `a path cannot contain NUL: ${JSON.stringify(path)}`, { operation });
  }
  return posix.resolve(workdir, path);
}
