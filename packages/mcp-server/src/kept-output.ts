import { posix } from "node:path";
import { type Captured, type Sandbox, SandboxError } from "@sandkit/core";
import { report } from "./report.js";
import { within } from "./within.js";

/** Where streams are kept, below the working directory; a look at what a run left passes over it. */
const folder = ".sandkit";
/** Streams kept in one sandbox; older ones are removed, so that they do not fill it. */
const maxKept = 6;
/** How long one of them may take, in milliseconds. */
const writeMs = 10_000;

/** What became of a stream that is too long to show. */
export interface KeptStream {
  readonly stream: "stdout" | "stderr";
  /** The file that holds it, as an absolute path in the sandbox, or why there is none. */
  readonly file: { readonly path: string; readonly size: number } | { readonly problem: string };
  /** Bytes that the program wrote. */
  readonly totalBytes: number;
  /** True when the middle was given up while the program ran. */
  readonly incomplete: boolean;
}

interface Shelf {
  runs: number;
  readonly paths: string[];
}

const shelves = new WeakMap<Sandbox, Shelf>();

/** Writes streams of one run into files of its sandbox. What cannot be kept is told; nothing is thrown. */
export async function keepStreams(
  sandbox: Sandbox,
  streams: readonly (readonly [name: "stdout" | "stderr", captured: Captured])[],
  signal: AbortSignal,
): Promise<KeptStream[]> {
  if (streams.length === 0 || signal.aborted) return [];
  const shelf = shelves.get(sandbox) ?? { runs: 0, paths: [] };
  shelves.set(sandbox, shelf);
  shelf.runs += 1;
  const paths = streams.map(([name]) => posix.join(sandbox.workdir, folder, `${shelf.runs}.${name}.txt`));
  shelf.paths.push(...paths);
  await removeOld(sandbox, shelf);
  return await Promise.all(
    streams.map(async ([stream, captured], index) => ({
      stream,
      file: await keep(sandbox, paths[index] ?? "", captured, signal),
      totalBytes: captured.totalBytes,
      incomplete: captured.truncated,
    })),
  );
}

async function keep(sandbox: Sandbox, path: string, captured: Captured, signal: AbortSignal) {
  // The text says where its middle is missing; whole bytes are exact.
  const data = captured.truncated ? Buffer.from(captured.text) : captured.bytes;
  try {
    await within(writeMs, "files.write", sandbox.files.write(path, data, { signal }));
    return { path, size: data.length };
  } catch (error) {
    // The run has ended and its result counts, with head and tail of its output.
    return { problem: error instanceof SandboxError ? `${error.code}: ${error.message}` : String(error) };
  }
}

async function removeOld(sandbox: Sandbox, { paths }: Shelf): Promise<void> {
  const old = paths.splice(0, Math.max(0, paths.length - maxKept));
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
