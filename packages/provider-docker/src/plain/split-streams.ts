import type { Duplex } from "node:stream";

const headerBytes = 8;

/** Who takes the two outputs of a program. */
export interface OutputSink {
  stdout(bytes: Uint8Array): void;
  stderr(bytes: Uint8Array): void;
  /** Whether there is room for more of both. */
  wanted(): boolean;
}

/**
 * Takes the engine's framing (`u8 type | 3 zeros | u32 length | payload`) apart into both outputs. What the sink has no
 * room for stays with the engine, which then holds up the program; call `source.resume()` when there is room.
 */
export function splitStreams(source: Duplex, sink: OutputSink): void {
  const header = Buffer.alloc(headerBytes);
  let headerLength = 0;
  let left = 0;
  let take = sink.stdout;
  source.on("data", (chunk: Buffer) => {
    let at = 0;
    while (at < chunk.length) {
      if (left === 0) {
        const taken = chunk.copy(header, headerLength, at, at + headerBytes - headerLength);
        headerLength += taken;
        at += taken;
        if (headerLength < headerBytes) break;
        headerLength = 0;
        left = header.readUInt32BE(4);
        take = header.readUInt8(0) === 2 ? sink.stderr : sink.stdout;
      } else {
        const end = Math.min(chunk.length, at + left);
        take(chunk.subarray(at, end));
        left -= end - at;
        at = end;
      }
    }
    if (!sink.wanted()) source.pause();
  });
}
