import { SandboxError } from "./errors.js";
import type { OutputCapture } from "./output.js";

/** Sees everything that a stream carries; what it returns is awaited, what it throws ends the stream. */
export interface OutputListener {
  onBytes(bytes: Uint8Array): void | Promise<void>;
  onEnd(): void | Promise<void>;
}

/**
 * One output stream of a process. It drains into the capture until somebody iterates; then it is pulled, and a slow
 * consumer holds the program up. A consumer that stops puts it back to draining.
 */
export class OutputStream implements AsyncIterable<Uint8Array> {
  /** Settles when the source has ended and all of it was handed on; rejects when the source or a listener fails. */
  readonly done: Promise<void>;
  readonly #name: string;
  readonly #capture: OutputCapture;
  #consumer: Consumer | undefined;
  #released = false;
  #ended = false;
  #failure: Failure | undefined;

  constructor(name: string, source: ReadableStream<Uint8Array>, capture: OutputCapture, listener: OutputListener) {
    this.#name = name;
    this.#capture = capture;
    this.done = this.#pump(source, listener);
    this.done.catch(() => undefined);
  }

  async #pump(source: ReadableStream<Uint8Array>, listener: OutputListener): Promise<void> {
    const reader = source.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        // Taken before the bytes enter the capture: a consumer that comes later replays them from there.
        const consumer = this.#consumer;
        this.#capture.add(value);
        await listener.onBytes(value);
        await consumer?.push(value);
      }
      await listener.onEnd();
      this.#consumer?.end();
    } catch (error) {
      this.#failure = { error };
      this.#consumer?.fail(this.#failure);
      throw error;
    } finally {
      this.#ended = true;
      reader.cancel().catch(() => undefined);
    }
  }

  /** Stops holding the program up: from now on a consumer's queue takes everything. */
  release(): void {
    this.#released = true;
    this.#consumer?.release();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    if (this.#consumer) {
      throw new SandboxError("INVALID", `${this.#name} is being read already: a stream has one consumer at a time`, {
        operation: "process.output",
      });
    }
    const captured = this.#capture.snapshot().bytes;
    const consumer = new Consumer(captured, () => {
      if (this.#consumer === consumer) this.#consumer = undefined;
    });
    if (this.#released) consumer.release();
    if (this.#failure) consumer.fail(this.#failure);
    else if (this.#ended) consumer.end();
    this.#consumer = consumer;
    return consumer;
  }
}

interface Failure {
  readonly error: unknown;
}

interface Waiter {
  readonly resolve: (result: IteratorResult<Uint8Array>) => void;
  readonly reject: (error: unknown) => void;
}

const finished: IteratorResult<Uint8Array> = { done: true, value: undefined };

/** A queue between the pump and one iterator. */
class Consumer implements AsyncIterator<Uint8Array> {
  readonly #queue: Uint8Array[] = [];
  /** Calls of `next` that found the queue empty; never together with a chunk in the queue. */
  readonly #waiters: Waiter[] = [];
  readonly #onStop: () => void;
  #taken: (() => void) | undefined;
  #bounded = true;
  #ended = false;
  #failure: Failure | undefined;
  #stopped = false;

  constructor(replay: Uint8Array, onStop: () => void) {
    if (replay.length > 0) this.#queue.push(replay);
    this.#onStop = onStop;
  }

  /** Resolves when the chunk was taken, or need not be. */
  async push(bytes: Uint8Array): Promise<void> {
    if (this.#stopped) return;
    const waiter = this.#waiters.shift();
    if (waiter) return waiter.resolve({ done: false, value: bytes });
    this.#queue.push(bytes);
    if (!this.#bounded) return;
    await new Promise<void>((resolve) => {
      this.#taken = resolve;
    });
  }

  release(): void {
    this.#bounded = false;
    this.#taken?.();
  }

  /** After what is queued, the iteration is over. */
  end(): void {
    this.#ended = true;
    if (this.#waiters.length > 0) this.#stop();
  }

  /** After what is queued, the iteration throws: a stream that broke off is not one that ended. */
  fail(failure: Failure): void {
    this.#failure = failure;
    const waiter = this.#waiters.shift();
    if (waiter) this.#throw(failure, waiter);
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.#queue.shift();
    if (value !== undefined) {
      if (this.#queue.length === 0) this.#taken?.();
      return Promise.resolve({ done: false, value });
    }
    return new Promise((resolve, reject) => {
      if (this.#stopped) return resolve(finished);
      if (this.#failure) return this.#throw(this.#failure, { resolve, reject });
      this.#waiters.push({ resolve, reject });
      if (this.#ended) this.#stop();
    });
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#stop();
    return finished;
  }

  #throw({ error }: Failure, waiter: Waiter): void {
    waiter.reject(error);
    this.#stop();
  }

  #stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#queue.length = 0;
    this.#taken?.();
    this.#onStop();
    for (const waiter of this.#waiters.splice(0)) waiter.resolve(finished);
  }
}
