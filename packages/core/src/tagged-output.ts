import type { OutputChunk } from "./options.js";

type StreamName = OutputChunk["stream"];

/** Both streams of a process as one, each chunk with the name of its stream, in the order they come. */
export async function* tagged(
  stdout: AsyncIterable<Uint8Array>,
  stderr: AsyncIterable<Uint8Array>,
): AsyncGenerator<OutputChunk> {
  const sources = new Map([
    ["stdout" as const, source("stdout", stdout)],
    ["stderr" as const, source("stderr", stderr)],
  ]);
  const pending = new Map([...sources].map(([name, { next }]) => [name, next()]));
  try {
    while (pending.size > 0) {
      const { name, chunk } = await Promise.race(pending.values());
      const more = sources.get(name);
      if (chunk && more) {
        pending.set(name, more.next());
        yield chunk;
      } else {
        pending.delete(name);
      }
    }
  } finally {
    for (const { stop } of sources.values()) stop();
  }
}

interface Step {
  readonly name: StreamName;
  /** Absent at the end. */
  readonly chunk?: OutputChunk;
}

function source(name: StreamName, stream: AsyncIterable<Uint8Array>): { next(): Promise<Step>; stop(): void } {
  const iterator = stream[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  const pull = async (): Promise<Step> => {
    const { done, value } = await iterator.next();
    if (!done) return { name, chunk: { stream: name, bytes: value, text: decoder.decode(value, { stream: true }) } };
    const text = decoder.decode();
    return text ? { name, chunk: { stream: name, bytes: new Uint8Array(), text } } : { name };
  };
  return {
    next() {
      const step = pull();
      // The failure of a stream that nobody reads any more, because the other one failed first, is told there.
      step.catch(() => undefined);
      return step;
    },
    stop() {
      iterator.return?.();
    },
  };
}
