import type { Data } from "./options.js";

const chunkBytes = 256 * 1024;

/** Any content as a stream of bytes, cut into pieces that a channel can take. */
export function toByteStream(data: Data): ReadableStream<Uint8Array> {
  if (data instanceof ReadableStream) return data;
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  let offset = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (offset >= bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(offset, offset + chunkBytes));
        offset += chunkBytes;
      },
    },
    { highWaterMark: 0 },
  );
}
