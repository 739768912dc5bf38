import { spawn } from "node:child_process";
import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { setPriority } from "node:os";
import { dirname, join } from "node:path";
import type { Artifacts } from "../artifacts.js";
import { nodeFlags } from "../node-flags.js";
import type { CodeCacheRequest } from "./build.js";

/** A build takes seconds; a lock that is older was left behind. */
const longestBuildMs = 120_000;
const lowestPriority = 19;

/**
 * Builds a code cache in a process of its own that never runs guest code: what a sandbox's child says of its compiled
 * code cannot be believed. It goes on for the few seconds that it needs when this program ends, so that programs that
 * end in less get a cache too. Without success nothing changes.
 */
export function buildCodeCache(artifacts: Artifacts, request: CodeCacheRequest): void {
  if (!lock(`${request.path}.lock`)) return;
  const directory = dirname(request.path);
  const flags = [...nodeFlags(artifacts, [`${directory}/`]), `--allow-fs-write=${directory}/`];
  const builder = spawn(
    process.execPath,
    [...flags, join(artifacts.directory, "build-code-cache.mjs"), JSON.stringify(request)],
    { env: {}, cwd: "/", stdio: "ignore", detached: true },
  );
  builder.on("error", () => rmSync(`${request.path}.lock`, { force: true }));
  builder.unref();
  try {
    if (builder.pid !== undefined) setPriority(builder.pid, lowestPriority);
  } catch {
    // It has ended already, or priorities are not to be had here.
  }
}

/** False while another program builds. */
function lock(path: string): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs < longestBuildMs) return false;
    rmSync(path);
  } catch {
    // Nobody builds; or the next step fails too, and says so.
  }
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch {
    return false;
  }
}
