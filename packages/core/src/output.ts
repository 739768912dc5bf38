import type { Captured } from "./exec.js";

const utf8 = new TextDecoder();

/** Keeps the first and the last bytes of a stream, in bounded memory, and counts them all. */
export class OutputCapture {
  readonly #head: HeadBuffer;
  readonly #tail: TailBuffer;
  #totalBytes = 0;

  /** @param limit Most bytes kept, half of them head and half tail. */
  constructor(limit: number) {
    this.#head = new HeadBuffer(Math.ceil(limit / 2));
    this.#tail = new TailBuffer(Math.floor(limit / 2));
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  add(bytes: Uint8Array): void {
    this.#totalBytes += bytes.length;
    this.#tail.add(bytes.subarray(this.#head.add(bytes)));
  }

  /** What is kept now; the copy does not change later. */
  snapshot(): Captured {
    if (this.#totalBytes === 0) return emptyCapture();
    const head = this.#head.bytes();
    const tail = this.#tail.bytes();
    const omitted = this.#totalBytes - head.length - tail.length;
    const bytes = concatenate(head, tail);
    const text =
      omitted === 0
        ? utf8.decode(bytes)
        : `${decodeHead(head)}\n[... ${omitted} bytes left out ...]\n${decodeTail(tail)}`;
    return { bytes, text, totalBytes: this.#totalBytes, truncated: omitted > 0 };
  }
}

/** What an output that nobody wrote to looks like. */
export function emptyCapture(): Captured {
  return { bytes: new Uint8Array(), text: "", totalBytes: 0, truncated: false };
}

class HeadBuffer {
  readonly #limit: number;
  #buffer = new Uint8Array(0);
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes what fits and tells how many bytes that were. */
  add(bytes: Uint8Array): number {
    const taken = Math.min(bytes.length, this.#limit - this.#length);
    if (taken === 0) return 0;
    this.#buffer = grow(this.#buffer, this.#length, this.#length + taken, this.#limit);
    this.#buffer.set(bytes.subarray(0, taken), this.#length);
    this.#length += taken;
    return taken;
  }

  bytes(): Uint8Array {
    return this.#buffer.slice(0, this.#length);
  }
}

class TailBuffer {
  readonly #limit: number;
  #buffer = new Uint8Array(0);
  #length = 0;
  /** Where the oldest byte is, once the buffer is full and wraps. */
  #start = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(bytes: Uint8Array): void {
    if (this.#limit === 0 || bytes.length === 0) return;
    const kept = bytes.subarray(Math.max(0, bytes.length - this.#limit));
    const room = Math.min(kept.length, this.#limit - this.#length);
    this.#buffer = grow(this.#buffer, this.#length, this.#length + room, this.#limit);
    this.#buffer.set(kept.subarray(0, room), this.#length);
    this.#length += room;
    this.#overwrite(kept.subarray(room));
  }

  #overwrite(bytes: Uint8Array): void {
    const first = Math.min(bytes.length, this.#limit - this.#start);
    this.#buffer.set(bytes.subarray(0, first), this.#start);
    this.#buffer.set(bytes.subarray(first), 0);
    this.#start = (this.#start + bytes.length) % this.#limit;
  }

  bytes(): Uint8Array {
    return concatenate(this.#buffer.subarray(this.#start, this.#length), this.#buffer.subarray(0, this.#start));
  }
}

function grow(buffer: Uint8Array<ArrayBuffer>, used: number, needed: number, limit: number): Uint8Array<ArrayBuffer> {
  if (needed <= buffer.length) return buffer;
  const larger = new Uint8Array(Math.min(limit, Math.max(needed, buffer.length * 2, 1024)));
  larger.set(buffer.subarray(0, used));
  return larger;
}

/** Joins two pieces into a new array. */
function concatenate(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

/** Leaves out a character cut by the end. */
function decodeHead(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes, { stream: true });
}

/** Leaves out a character cut by the start: at most three continuation bytes. */
function decodeTail(bytes: Uint8Array): string {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return new TextDecoder().decode(bytes.subarray(start));
}
