import { type Duplex, Readable } from "node:stream";
import { splitStreams } from "./split-streams.js";

/** Kept of what comes on stderr, for the error that needs it. */
const maxStderrBytes = 16 * 1024;
const bufferedBytes = 256 * 1024;

/** The two outputs that the engine sends over one attached stream. */
export interface Demultiplexed {
  /** The stream itself; what is written to it is the program's input. */
  readonly source: Duplex;
  /** Pulled: what is not read stays with the engine, which then holds up the program. */
  readonly stdout: Readable;
  /** The latest that came on stderr, as text. */
  stderr(): string;
}

/** The outputs of a program that speaks on stdout, and complains on stderr. */
export function demultiplex(source: Duplex): Demultiplexed {
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
  splitStreams(source, {
    stdout: (bytes) => stdout.push(bytes),
    stderr: (bytes) => {
      stderr = Buffer.concat([stderr, bytes]).subarray(-maxStderrBytes);
    },
    wanted: () => stdout.readableLength < bufferedBytes,
  });
  source.on("end", () => stdout.push(null));
  source.on("error", (error) => stdout.destroy(error));
  source.on("close", () => {
    if (!stdout.readableEnded) stdout.push(null);
  });
  return { source, stdout, stderr: () => stderr.toString("utf8") };
}
