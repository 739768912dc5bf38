import { posix } from "node:path";
import { type Sandbox, SandboxError } from "@sandkit/core";
import { report } from "./report.js";
import { within } from "./within.js";

/** Where files are kept, below the working directory; a look at what a run left passes over it. */
const folder = ".sandkit";
/** Runs whose files are kept in one sandbox; older ones are removed, so that they do not fill it. */
const maxKept = 6;
/** How long one of them may take, in milliseconds. */
const writeMs = 10_000;

/** Something of a run that is too long, or of no use, as text. */
export interface ToKeep {
  /** What the text of the result calls it. */
  readonly label: string;
  /** The end of the file's name. */
  readonly name: string;
  readonly data: Uint8Array;
  /** Bytes of the whole, where `data` is less. */
  readonly totalBytes?: number | undefined;
}

/** What became of it; what was written is not held on to. */
export interface Kept extends Omit<ToKeep, "data"> {
  /** The file that holds it, as an absolute path in the sandbox, or why there is none. */
  readonly file: { readonly path: string; readonly size: number } | { readonly problem: string };
}

interface Shelf {
  runs: number;
  readonly runPaths: string[][];
}

const shelves = new WeakMap<Sandbox, Shelf>();

/** Writes what a run leaves beside its text into files of its sandbox. What cannot be kept is told; nothing is thrown. */
export async function keepOutput(sandbox: Sandbox, items: readonly ToKeep[], signal: AbortSignal): Promise<Kept[]> {
  if (items.length === 0 || signal.aborted) return [];
  const shelf = shelves.get(sandbox) ?? { runs: 0, runPaths: [] };
  shelves.set(sandbox, shelf);
  shelf.runs += 1;
  const paths = items.map(({ name }) => posix.join(sandbox.workdir, folder, `${shelf.runs}.${name}`));
  shelf.runPaths.push(paths);
  await removeOld(sandbox, shelf);
  return await Promise.all(
    items.map(async ({ data, ...item }, index) => ({
      ...item,
      file: await keep(sandbox, paths[index] ?? "", data, signal),
    })),
  );
}

async function keep(sandbox: Sandbox, path: string, data: Uint8Array, signal: AbortSignal) {
  try {
    await within(writeMs, "files.write", sandbox.files.write(path, data, { signal }));
    return { path, size: data.length };
  } catch (error) {
    // The run has ended and its result counts, with head and tail of its output.
    return { problem: error instanceof SandboxError ? `${error.code}: ${error.message}` : String(error) };
  }
}

async function removeOld(sandbox: Sandbox, { runPaths }: Shelf): Promise<void> {
  const old = runPaths.splice(0, Math.max(0, runPaths.length - maxKept)).flat();
  await Promise.all(
    old.map(async (path) => {
      try {
        await within(writeMs, "files.remove", sandbox.files.remove(path));
      } catch (error) {
        report(`${path} could not be removed from a sandbox`, error);
      }
    }),
  );
}
