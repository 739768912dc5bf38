import { Buffer } from "./buffer.js";
import { EventEmitter } from "./events.js";
import { readInput } from "./files.js";
import { printBytes } from "./host.js";
import type { Timers } from "./timers.js";

const pieceSize = 64 * 1024;

/** `process.stdout` and `process.stderr`: everything leaves at once. */
export class OutputStream extends EventEmitter {
  readonly fd: 1 | 2;
  readonly isTTY = false;
  readonly writable = true;

  constructor(fd: 1 | 2) {
    super();
    this.fd = fd;
  }

  write(data: string | Uint8Array, encoding?: unknown, done?: unknown): boolean {
    printBytes(
      this.fd,
      typeof data === "string" ? Buffer.from(data, typeof encoding === "string" ? encoding : "utf8") : data,
    );
    const callback = typeof encoding === "function" ? encoding : done;
    if (typeof callback === "function") queueMicrotask(() => void callback());
    return true;
  }

  end(data?: string | Uint8Array): this {
    if (data !== undefined) this.write(data);
    return this;
  }
}

/** `process.stdin`, in the ways in which programs read it: events, `for await`, `read`. */
export class InputStream extends EventEmitter {
  readonly fd = 0;
  readonly isTTY = false;
  readonly #timers: Timers;
  #encoding: string | undefined;
  #flowing = false;
  #ended = false;

  constructor(timers: Timers) {
    super();
    this.#timers = timers;
  }

  setEncoding(encoding: string): this {
    this.#encoding = encoding;
    return this;
  }

  override on(event: string | symbol, listener: (...args: never[]) => unknown): this {
    super.on(event, listener);
    if (event === "data" || event === "end") this.resume();
    return this;
  }

  resume(): this {
    if (!this.#flowing && !this.#ended) {
      this.#flowing = true;
      this.#timers.setImmediate(() => this.#flow());
    }
    return this;
  }

  pause(): this {
    this.#flowing = false;
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | Buffer> {
    while (!this.#ended) {
      const piece = this.#read();
      if (piece) yield piece;
      await undefined;
    }
  }

  /** One piece at a time, so that timers and promises have their turn between two. */
  #flow(): void {
    if (!this.#flowing) return;
    const piece = this.#read();
    if (piece) this.emit("data", piece);
    if (this.#ended) {
      this.#flowing = false;
      this.emit("end");
      this.emit("close");
    } else this.#timers.setImmediate(() => this.#flow());
  }

  #pending: Uint8Array = new Uint8Array();

  /** Undefined at the end, and before a signal. */
  #read(): string | Buffer | undefined {
    const bytes = readInput(pieceSize);
    if (!bytes) return undefined;
    this.#ended = bytes.length === 0;
    if (this.#encoding === undefined) return this.#ended ? undefined : Buffer.from(bytes);
    const whole = Buffer.concat([this.#pending, bytes]);
    const cut = this.#ended ? whole.length : wholeCharacters(whole);
    this.#pending = whole.subarray(cut);
    return whole.subarray(0, cut).toString(this.#encoding) || undefined;
  }
}

/** How many bytes are whole characters of UTF-8. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return back < length ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
