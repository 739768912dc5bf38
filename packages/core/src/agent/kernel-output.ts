import { setImmediate } from "node:timers/promises";
import type { ExecuteOptions, ProviderProcess } from "../provider.js";
import { windowBytes } from "./protocol.js";

type Listener = ExecuteOptions["onOutput"];
type StreamName = Parameters<Listener>[0];

/** Of what is written between two cells, this much of each stream is kept for the next one. */
const keptBytes = 64 * 1024;

/**
 * What an interpreter and its children write, given to the cell that runs. Between cells, where threads and background
 * programs may go on writing, it is kept for the next cell; what is too much for that is dropped and counted there, so
 * that a server which logs is never held up.
 */
export class KernelOutput {
  /** Settles when both streams have ended and all was handed on; rejects when a stream or a listener fails. */
  readonly done: Promise<unknown>;
  readonly #lanes: readonly Lane[];

  constructor(process: Pick<ProviderProcess, "stdout" | "stderr">) {
    this.#lanes = [new Lane("stdout", process.stdout), new Lane("stderr", process.stderr)];
    this.done = Promise.all(this.#lanes.map((lane) => lane.done));
    this.done.catch(() => undefined);
  }

  /** From now on the output is this listener's, what was kept first. */
  attach(listener: Listener): void {
    for (const lane of this.#lanes) lane.attach(listener);
  }

  /** Hands on what has arrived until now, and then keeps what comes. */
  async detach(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.drain()));
    for (const lane of this.#lanes) lane.detach();
  }

  /** Takes what was kept, as text. */
  takeKept(): string {
    return this.#lanes.map((lane) => new TextDecoder().decode(Buffer.concat(lane.takeKept()))).join("");
  }
}

class Lane {
  readonly done: Promise<void>;
  readonly #name: StreamName;
  #listener: Listener | undefined;
  #kept: Uint8Array[] = [];
  #room = keptBytes;
  #dropped = 0;
  #handling = false;
  #ended = false;
  #total = 0;

  constructor(name: StreamName, source: ReadableStream<Uint8Array>) {
    this.#name = name;
    this.done = this.#pump(source).finally(() => {
      this.#ended = true;
    });
    this.done.catch(() => undefined);
  }

  attach(listener: Listener): void {
    const [kept, dropped] = [this.takeKept(), this.#dropped];
    this.#dropped = 0;
    if (dropped > 0) {
      kept.push(new TextEncoder().encode(`\nsandkit: ${dropped} more bytes were written between cells\n`));
    }
    const told = kept.reduce<Promise<void>>(
      (before, bytes) => before.then(() => listener(this.#name, bytes)),
      Promise.resolve(),
    );
    this.#listener = async (name, bytes) => {
      await told;
      await listener(name, bytes);
    };
    if (kept.length > 0) this.#handle(told);
  }

  detach(): void {
    this.#listener = undefined;
  }

  takeKept(): Uint8Array[] {
    const kept = this.#kept;
    this.#kept = [];
    this.#room = keptBytes;
    return kept;
  }

  /** Until nothing more is there at once. No more than a window can have been on the way when it was asked for. */
  async drain(): Promise<void> {
    const end = this.#total + windowBytes;
    while (!this.#ended && this.#total < end) {
      const before = this.#total;
      await setImmediate();
      if (this.#total === before && !this.#handling) return;
    }
  }

  async #pump(source: ReadableStream<Uint8Array>): Promise<void> {
    for await (const bytes of source) {
      this.#total += bytes.length;
      await this.#handle(this.#listener ? this.#listener(this.#name, bytes) : this.#keep(bytes));
    }
  }

  async #handle(work: void | Promise<void>): Promise<void> {
    this.#handling = true;
    try {
      await work;
    } finally {
      this.#handling = false;
    }
  }

  #keep(bytes: Uint8Array): void {
    const fitting = bytes.subarray(0, this.#room);
    this.#room -= fitting.length;
    this.#dropped += bytes.length - fitting.length;
    if (fitting.length > 0) this.#kept.push(fitting);
  }
}
