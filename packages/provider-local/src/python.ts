import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { failure } from "./errors.js";

/** The interpreter that runs supervisors. */
export interface Python {
  /** Absolute path of the interpreter itself, behind shims and links of version managers. */
  readonly path: string;
  readonly version: string;
}

const minimum = [3, 9] as const;
const probe = "import sys, ctypes, fcntl; print(sys.executable, *sys.version_info[:3], sep='\\n')";

/** What a person can do when {@link findPython} fails. */
export const pythonFix = [
  "install Python 3.9 or later, so that `python3` is in the PATH (Debian: `apt-get install python3`)",
  "or give its path as the option `python`",
] as const;

/**
 * Asks a Python for its real path: a version manager's shim costs as much as the whole start of a command.
 * @throws SandboxError `UNAVAILABLE` when this machine cannot run the supervisor
 */
export async function findPython(name: string): Promise<Python> {
  if (process.platform !== "linux") {
    throw failure(
      "UNAVAILABLE",
      "create",
      `provider "local" needs Linux (a subreaper per command), not ${process.platform}`,
    );
  }
  const { stdout } = await promisify(execFile)(name, ["-I", "-c", probe]).catch((error) => {
    const message = `provider "local" needs Python to supervise commands, and "${name}" does not run: ${pythonFix.join("; ")}`;
    throw failure("UNAVAILABLE", "create", message, error);
  });
  const [path = "", ...numbers] = stdout.trim().split("\n");
  const [major = 0, minor = 0] = numbers.map(Number);
  const version = numbers.join(".");
  if (major < minimum[0] || (major === minimum[0] && minor < minimum[1])) {
    throw failure("UNAVAILABLE", "create", `Python ${version} at ${path} is too old: ${pythonFix.join("; ")}`);
  }
  return { path, version };
}
