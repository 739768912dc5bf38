import type { Duplex } from "node:stream";

const headerBytes = 8;

/** Who takes the two outputs of a program. */
export interface OutputSink {
  stdout(bytes: Uint8Array): unknown;
  stderr(bytes: Uint8Array): unknown;
  /** Whether there is room for more of both. */
  wanted(): boolean;
}

/**
 * Takes the engine's framing (`u8 type | 3 zeros | u32 length | payload`) apart into both outputs, however the bytes are
 * cut: no recursion, no copies, no buffer. A program inside decides over how many frames come. What the sink has no room
 * for stays with the engine, which then holds up the program; call `source.resume()` when there is room. What is no
 * such frame destroys the source.
 */
export function splitStreams(source: Duplex, sink: OutputSink): void {
  const header = Buffer.alloc(headerBytes);
  let headerLength = 0;
  let type = 0;
  let left = 0;
  source.on("data", (chunk: Buffer) => {
    let at = 0;
    while (at < chunk.length) {
      if (left === 0) {
        const taken = chunk.copy(header, headerLength, at, at + headerBytes - headerLength);
        headerLength += taken;
        at += taken;
        if (headerLength < headerBytes) break;
        headerLength = 0;
        type = header.readUInt8(0);
        left = header.readUInt32BE(4);
        if (type > 2) {
          source.destroy(new Error(`the engine sent a frame of type ${type}: is the container's output a terminal?`));
          return;
        }
      } else {
        const end = Math.min(chunk.length, at + left);
        const bytes = chunk.subarray(at, end);
        if (type === 2) sink.stderr(bytes);
        else sink.stdout(bytes);
        left -= end - at;
        at = end;
      }
    }
    if (!sink.wanted()) source.pause();
  });
}
