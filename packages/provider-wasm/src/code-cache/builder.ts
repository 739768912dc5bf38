import { spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { setPriority } from "node:os";
import { dirname, join } from "node:path";
import type { Artifacts } from "../artifacts.js";
import { nodeFlags } from "../node-flags.js";
import type { CodeCacheRequest } from "./build.js";
import { unfinishedSuffix } from "./code-cache.js";

/** It takes about three seconds of an idle processor; on a busy machine it gives up, and a later start tries again. */
const longestBuildMs = 60_000;
/** One that failed, or whose cache does not fit, would fail again. */
const retryAfterMs = 10 * 60_000;
/** Low, and not the lowest: with that it would never be done on a machine that is always busy. */
const priority = 10;

/**
 * Builds a code cache in a process of its own that never runs guest code: what a sandbox's child says of its compiled
 * code cannot be believed. It does not keep this program alive, and may end up to `longestBuildMs` after it, so that
 * short programs get a cache too. One at a time for all programs that share the directory. Without success nothing
 * changes but the start time.
 * @returns whether a build was begun
 */
export function buildCodeCache(
  artifacts: Artifacts,
  memoryMiB: number,
  path: string,
  deadlineMs = longestBuildMs,
): boolean {
  const directory = dirname(path);
  if (!begin(directory, path)) return false;
  const flags = [...nodeFlags(artifacts, [`${directory}/`]), `--allow-fs-write=${directory}/`];
  const entry = join(artifacts.directory, "build-code-cache.mjs");
  const { pyodide } = artifacts;
  const request: CodeCacheRequest = { pyodide, artifacts: artifacts.directory, memoryMiB, path, deadlineMs };
  const builder = spawn(process.execPath, [...flags, entry, JSON.stringify(request)], {
    env: {},
    cwd: "/",
    stdio: "ignore",
  });
  // It could not be started: what `begin` has left keeps others from trying at once.
  builder.on("error", () => undefined);
  builder.unref();
  try {
    // From here, and at once, so that every thread of it has it.
    if (builder.pid !== undefined) setPriority(builder.pid, priority);
  } catch {
    // It has ended already, or priorities are not to be had here.
  }
  return true;
}

/** Claims the build by the file that it will write. False while one is under way, or soon after the last. */
function begin(directory: string, path: string): boolean {
  const own = `${path}${unfinishedSuffix}`;
  try {
    const building = readdirSync(directory).filter((name) => name.endsWith(unfinishedSuffix));
    if (building.some((name) => ageMs(join(directory, name)) < longestBuildMs)) return false;
    if ([path, own].some((file) => ageMs(file) < retryAfterMs)) return false;
    rmSync(own, { force: true });
    closeSync(openSync(own, "wx", 0o600));
    return true;
  } catch {
    // Somebody else was faster, or the disk is full.
    return false;
  }
}

/** Milliseconds since a file was written; for ever when it is not there. */
function ageMs(path: string): number {
  const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return modified === undefined ? Number.POSITIVE_INFINITY : Date.now() - modified;
}
