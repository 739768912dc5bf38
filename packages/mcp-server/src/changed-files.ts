import { posix } from "node:path";
import { type FileInfo, type Sandbox, SandboxError } from "@sandkit/core";
import { report } from "./report.js";

/** How far a look at the working directory goes: it is one request, whatever lies there. */
const look = { recursive: true, maxDepth: 4, limit: 2_000 };
const uninteresting = /(?:^|\/)(?:\.[^/]*|__pycache__|node_modules)(?:\/|$)/;
/** Stands for whatever a file looks like after a write that the model made itself. */
const known = "known";

/** What each sandbox's files looked like after the latest run. */
const seen = new WeakMap<Sandbox, Map<string, string>>();

/** What a run gave, and the files under the working directory that are new or different since the run before it. */
interface Observed<Result> {
  readonly ended: Result;
  readonly changed: readonly FileInfo[];
}

/** Runs something in a sandbox and looks what it left in the working directory, unless nobody waits any more. */
export async function observingFiles<Result>(
  sandbox: Sandbox,
  signal: AbortSignal,
  run: () => Promise<Result>,
): Promise<Observed<Result>> {
  if (!seen.has(sandbox)) seen.set(sandbox, marksOf(await filesOf(sandbox)));
  const ended = await run();
  return { ended, changed: signal.aborted ? [] : await changesIn(sandbox) };
}

/** A file that the model wrote by name is no news to it. */
export function markKnown(sandbox: Sandbox, path: string): void {
  seen.get(sandbox)?.set(posix.resolve(sandbox.workdir, path), known);
}

async function changesIn(sandbox: Sandbox): Promise<readonly FileInfo[]> {
  try {
    const files = await filesOf(sandbox);
    const before = seen.get(sandbox);
    seen.set(sandbox, marksOf(files));
    return files.filter((file) => ![known, markOf(file)].includes(before?.get(file.path) ?? ""));
  } catch (error) {
    // The run has ended and its result counts; only the list of files is missing.
    report("the files of a sandbox could not be listed after a run", error);
    return [];
  }
}

async function filesOf(sandbox: Sandbox): Promise<FileInfo[]> {
  try {
    const entries = await sandbox.files.list(".", look);
    return entries.filter(
      (entry) => entry.type === "file" && !uninteresting.test(posix.relative(sandbox.workdir, entry.path)),
    );
  } catch (error) {
    // A program may remove its own working directory.
    if (error instanceof SandboxError && error.code === "FILE_NOT_FOUND") return [];
    throw error;
  }
}

function marksOf(files: readonly FileInfo[]): Map<string, string> {
  return new Map(files.map((file) => [file.path, markOf(file)]));
}

function markOf(file: FileInfo): string {
  return `${file.modifiedAt.getTime()} ${file.size}`;
}
