import type { Readable, Writable } from "node:stream";
import type { Channel } from "./channel.js";

/** A channel over two streams of Node, such as those of a child process, or a socket that is both. */
export function streamChannel(options: {
  readonly readable: Readable;
  readonly writable: Writable;
  /** Ends what the streams lead to, once they are closed. */
  readonly close?: () => Promise<void>;
  readonly ref?: () => void;
  readonly unref?: () => void;
}): Channel {
  const { readable, writable } = options;
  let closing: Promise<void> | undefined;
  const close = async () => {
    writable.destroy();
    readable.destroy();
    await options.close?.();
  };
  return {
    readable: byteSource(readable),
    writable: byteSink(writable),
    close: () => {
      closing ??= close();
      return closing;
    },
    ...(options.ref && { ref: options.ref }),
    ...(options.unref && { unref: options.unref }),
  };
}

/** Reads only on demand, so that what is not pulled stays where it is. */
function byteSource(readable: Readable): ReadableStream<Uint8Array> {
  // Whoever reads gets it; without a reader there is nobody to tell.
  readable.on("error", () => undefined);
  const chunks: AsyncIterator<Buffer> = readable[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel() {
        readable.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Takes bytes as long as the stream has room for more, and says so when it broke. */
function byteSink(writable: Writable): WritableStream<Uint8Array> {
  let failure: Error | undefined;
  let wake: (() => void) | undefined;
  const go = () => {
    wake?.();
    wake = undefined;
  };
  writable.on("drain", go);
  writable.on("error", (error) => {
    failure = error;
    go();
  });
  writable.on("close", () => {
    failure ??= new Error("the stream was closed");
    go();
  });
  return new WritableStream<Uint8Array>({
    async write(bytes) {
      if (failure) throw failure;
      if (writable.write(bytes)) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (failure) throw failure;
    },
    close: () => {
      writable.end();
    },
    abort: () => {
      writable.destroy();
    },
  });
}
