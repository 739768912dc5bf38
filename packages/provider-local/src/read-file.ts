import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { ReadOptions } from "@sandkit/core";
import { onPath } from "./errors.js";
import { requireRegular } from "./file-info.js";

const chunkBytes = 256 * 1024;

/** Opens a file and gives the asked range of it on demand, a chunk at a time. */
export async function readFile(path: string, options: ReadOptions): Promise<ReadableStream<Uint8Array>> {
  const { offset = 0, length = Infinity, signal } = options;
  signal?.throwIfAborted();
  // Without O_NONBLOCK a named pipe would block here until somebody writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    requireRegular(await file.stat(), "files.read", path);
  } catch (error) {
    await file.close();
    throw error;
  }
  return rangeStream(file, path, { offset, end: offset + length, signal });
}

function rangeStream(
  file: FileHandle,
  path: string,
  range: { readonly offset: number; readonly end: number; readonly signal: AbortSignal | undefined },
): ReadableStream<Uint8Array> {
  let position = range.offset;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          range.signal?.throwIfAborted();
          const buffer = new Uint8Array(Math.min(chunkBytes, range.end - position));
          const { bytesRead } = await onPath("files.read", path, () =>
            file.read(buffer, 0, buffer.byteLength, position),
          );
          position += bytesRead;
          if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
        } catch (error) {
          await file.close();
          throw error;
        }
        await file.close();
        controller.close();
      },
      cancel: () => file.close(),
    },
    { highWaterMark: 0 },
  );
}
