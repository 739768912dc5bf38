import { once } from "node:events";
import type { OutputChunk } from "@sandkit/core";

/**
 * Passes a program's output on byte for byte, as fast as it is read and no faster.
 * `onBroken` is called when nobody reads any more, or what was read cannot be stored (a full disk).
 */
export function passOutput(onBroken: (error: NodeJS.ErrnoException) => void): (chunk: OutputChunk) => Promise<void> {
  const broken = new Set<NodeJS.WriteStream>();
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (broken.has(stream)) return;
      broken.add(stream);
      onBroken(error);
    });
  }
  return async ({ stream: name, bytes }) => {
    const stream = process[name];
    if (broken.has(stream) || bytes.length === 0 || stream.write(bytes)) return;
    // A broken pipe ends the wait too; the listener above has seen it.
    await once(stream, "drain").catch(() => undefined);
  };
}
