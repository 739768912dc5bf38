import type { FileInfo, ListFilesOptions, ProviderFiles, ReadOptions, WriteOptions } from "@sandkit/core";
import type { SandboxChild } from "./child-process.js";
import { LatestListing } from "./latest-listing.js";
import type { FileRecord } from "./protocol.js";

/** Moved at a time, so that a file of any size passes through little memory. */
const pieceSize = 1024 * 1024;

/** The file primitives, answered by the broker, also while interpreters are busy. */
export function wasmFiles(child: SandboxChild): ProviderFiles {
  const listing = new LatestListing(child);
  return {
    async read(path, { offset = 0, length = Number.POSITIVE_INFINITY, signal }: ReadOptions = {}) {
      signal?.throwIfAborted();
      const what = { operation: "files.read", subject: path };
      const handle = await child.call("openRead", [path, offset], what);
      let left = length;
      const close = () => child.call("closeRead", [handle], what);
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            if (signal?.aborted) {
              await close();
              throw signal.reason;
            }
            const wanted = Math.min(left, pieceSize);
            const bytes = wanted > 0 ? await child.call("read", [handle, wanted], what) : new Uint8Array();
            left -= bytes.length;
            if (bytes.length > 0) controller.enqueue(bytes);
            if (bytes.length < wanted || left <= 0) {
              await close();
              controller.close();
            }
          },
          async cancel() {
            await close();
          },
        },
        { highWaterMark: 0 },
      );
    },

    async write(path, data, options: WriteOptions) {
      const { signal } = options;
      signal?.throwIfAborted();
      const what = { operation: "files.write", subject: path };
      const handle = await child.call("openWrite", [path, writeOptions(options)], what);
      try {
        for await (const bytes of aborting(data, signal)) {
          for (let start = 0; start < bytes.length; start += pieceSize) {
            await child.call("append", [handle, bytes.subarray(start, start + pieceSize)], what);
          }
        }
        signal?.throwIfAborted();
        await child.call("commit", [handle], what);
      } catch (error) {
        if (child.lost === undefined) await child.call("abandon", [handle], what);
        throw error;
      }
    },

    async list(path, options: ListFilesOptions = {}) {
      return (await listing.records(path, options)).map(fileInfo);
    },

    async stat(path, { followSymlinks }) {
      return fileInfo(await child.call("stat", [path, followSymlinks], { operation: "files.stat", subject: path }));
    },

    async mkdir(path) {
      await child.call("mkdir", [path], { operation: "files.mkdir", subject: path });
    },

    async move(from, to) {
      await child.call("move", [from, to], { operation: "files.move", subject: from });
    },

    async remove(path, { recursive }) {
      return child.call("remove", [path, recursive], { operation: "files.remove", subject: path });
    },

    async symlink(target, path) {
      await child.call("symlink", [target, path], { operation: "files.symlink", subject: path });
    },
  };
}

function writeOptions({ mode, permissions, ifModifiedAt }: WriteOptions) {
  return {
    mode,
    ...(permissions !== undefined && { permissions }),
    ...(ifModifiedAt && { ifModifiedAt: ifModifiedAt.getTime() }),
  };
}

/** The chunks of a stream; an abort also ends the wait for the next one. */
async function* aborting(
  data: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const reader = data.getReader();
  const onAbort = () => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", onAbort);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal?.removeEventListener("abort", onAbort);
    await reader.cancel().catch(() => undefined);
  }
}

function fileInfo({ modifiedAt, ...rest }: FileRecord): FileInfo {
  return { ...rest, modifiedAt: new Date(modifiedAt) };
}
