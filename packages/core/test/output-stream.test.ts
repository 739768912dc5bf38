import { describe, expect, it } from "vitest";
import { SandboxError } from "../src/errors.js";
import { OutputCapture } from "../src/output.js";
import { OutputStream } from "../src/output-stream.js";

const encode = (text: string) => new TextEncoder().encode(text);
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

function open(limit = 1000) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const source = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
      },
    },
    { highWaterMark: 0 },
  );
  const capture = new OutputCapture(limit);
  const stream = new OutputStream("stdout", source, capture, { onBytes: () => undefined, onEnd: () => undefined });
  return {
    stream,
    capture,
    write: (text: string) => controller?.enqueue(encode(text)),
    close: () => controller?.close(),
    fail: (error: Error) => controller?.error(error),
  };
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of stream) text += new TextDecoder().decode(piece);
  return text;
}

describe("OutputStream", () => {
  it("drains into the capture while nobody iterates", async () => {
    const { stream, capture, write, close } = open();
    write("a");
    write("b");
    close();
    await stream.done;
    expect(capture.snapshot().text).toBe("ab");
  });

  it("replays what was captured, then goes on live, with nothing twice or lost", async () => {
    const { stream, write, close } = open();
    write("early ");
    await turn();
    const reading = readAll(stream);
    write("late");
    close();
    expect(await reading).toBe("early late");
  });

  it("holds the source up while the consumer does not pull", async () => {
    const { stream, capture, write } = open();
    const iterator = stream[Symbol.asyncIterator]();
    for (const text of ["1", "2", "3"]) write(text);
    await turn();
    expect(capture.totalBytes).toBe(1);
    await iterator.next();
    await turn();
    expect(capture.totalBytes).toBe(2);
  });

  it("drains again once the consumer stops, without an error", async () => {
    const { stream, capture, write, close } = open();
    for (const text of ["1", "2", "3"]) write(text);
    for await (const _ of stream) break;
    write("4");
    close();
    await stream.done;
    expect(capture.snapshot().text).toBe("1234");
  });

  it("has one consumer at a time", async () => {
    const { stream, write, close } = open();
    const first = stream[Symbol.asyncIterator]();
    expect(() => stream[Symbol.asyncIterator]()).toThrow(SandboxError);
    await first.return?.();
    write("x");
    close();
    expect(await readAll(stream)).toBe("x");
  });

  it("holds nothing up after release", async () => {
    const { stream, capture, write, close } = open();
    const iterator = stream[Symbol.asyncIterator]();
    for (const text of ["1", "2", "3"]) write(text);
    close();
    stream.release();
    await stream.done;
    expect(capture.totalBytes).toBe(3);
    expect((await iterator.next()).value).toEqual(encode("1"));
  });

  it("throws at its consumer when the source breaks off, after what came before", async () => {
    const { stream, write, fail } = open();
    write("x");
    await turn();
    const live = stream[Symbol.asyncIterator]();
    expect((await live.next()).value).toEqual(encode("x"));
    const waiting = live.next();
    fail(new Error("lost"));
    await expect(waiting).rejects.toThrow("lost");
    await expect(stream.done).rejects.toThrow("lost");
    expect((await live.next()).done).toBe(true);
    await expect(readAll(stream)).rejects.toThrow("lost");
  });

  it("answers calls of next that do not wait for each other in order", async () => {
    const { stream, write, close } = open();
    const iterator = stream[Symbol.asyncIterator]();
    const all = Promise.all([iterator.next(), iterator.next(), iterator.next()]);
    write("1");
    write("2");
    close();
    expect((await all).map(({ value }) => value)).toEqual([encode("1"), encode("2"), undefined]);
  });
});
