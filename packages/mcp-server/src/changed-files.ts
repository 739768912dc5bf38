import { posix } from "node:path";
import type { FileInfo, Sandbox } from "@sandkit/core";
import { interestingFiles } from "./interesting-files.js";
import { report } from "./report.js";
import { within } from "./within.js";

/** How long a look may take, in milliseconds. */
const lookMs = 5_000;
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
  if (!seen.has(sandbox)) await lookAt(sandbox);
  const ended = await run();
  return { ended, changed: signal.aborted ? [] : await lookAt(sandbox) };
}

/** A file that the model wrote by name is no news to it. */
export function markKnown(sandbox: Sandbox, path: string): void {
  seen.get(sandbox)?.set(posix.resolve(sandbox.workdir, path), known);
}

/** What has changed since the look before; nothing at the first look, and when the files cannot be listed. */
async function lookAt(sandbox: Sandbox): Promise<readonly FileInfo[]> {
  try {
    const files = await within(lookMs, "files.list", interestingFiles(sandbox));
    const before = seen.get(sandbox);
    seen.set(sandbox, marksOf(files));
    return before === undefined ? [] : files.filter((file) => !matches(before.get(file.path), file));
  } catch (error) {
    // The run counts; only the list of its files is missing.
    report("the files of a sandbox could not be listed", error);
    return [];
  }
}

function matches(mark: string | undefined, file: FileInfo): boolean {
  return mark === known || mark === markOf(file);
}

function marksOf(files: readonly FileInfo[]): Map<string, string> {
  return new Map(files.map((file) => [file.path, markOf(file)]));
}

function markOf(file: FileInfo): string {
  return `${file.modifiedAt.getTime()} ${file.size}`;
}
