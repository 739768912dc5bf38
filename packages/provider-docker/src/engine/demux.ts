import { type Duplex, Readable } from "node:stream";

const headerBytes = 8;
/** Kept of what comes on stderr, for the error that needs it. */
const maxStderrBytes = 16 * 1024;
const bufferedBytes = 256 * 1024;

/** The two outputs that the engine sends over one attached stream. */
export interface Demultiplexed {
  /** Pulled: what is not read stays with the engine, which then holds up the program. */
  readonly stdout: Readable;
  /** The latest that came on stderr, as text. */
  stderr(): string;
}

/**
 * Takes the engine's framing (`u8 type | 3 zeros | u32 length | payload`) apart, however the bytes are cut: no
 * recursion, no copies, no buffer beside the stream's own. A program inside decides over how many frames come.
 */
export function demultiplex(source: Duplex): Demultiplexed {
  const header = Buffer.alloc(headerBytes);
  let headerLength = 0;
  let type = 0;
  let left = 0;
  let stderr = Buffer.alloc(0);
  const stdout = new Readable({
    highWaterMark: bufferedBytes,
    read: () => {
      source.resume();
    },
    destroy(error, callback) {
      source.destroy();
      callback(error);
    },
  });

  const onPayload = (bytes: Buffer): boolean => {
    if (type !== 2) return stdout.push(bytes);
    stderr = Buffer.concat([stderr, bytes]).subarray(-maxStderrBytes);
    return true;
  };

  source.on("data", (chunk: Buffer) => {
    let wanted = true;
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
          stdout.destroy(new Error(`the engine sent a frame of type ${type}: is the container's output a terminal?`));
          return;
        }
      } else {
        const end = Math.min(chunk.length, at + left);
        wanted = onPayload(chunk.subarray(at, end));
        left -= end - at;
        at = end;
      }
    }
    if (!wanted) source.pause();
  });
  source.on("end", () => stdout.push(null));
  source.on("error", (error) => stdout.destroy(error));
  source.on("close", () => {
    if (!stdout.readableEnded) stdout.push(null);
  });
  return { stdout, stderr: () => stderr.toString("utf8") };
}
