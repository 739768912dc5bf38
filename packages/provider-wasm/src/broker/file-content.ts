import { FileError } from "./file-error.js";

/** Counts the bytes that all files of a sandbox take, and refuses what is beyond. */
export class Quota {
  #used = 0;
  /** In bytes. */
  limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  /** @throws FileError `ENOSPC` */
  take(bytes: number): void {
    if (this.#used + bytes > this.limit) throw new FileError("ENOSPC", "the sandbox's disk is full");
    this.#used += bytes;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

const chunkSize = 256 * 1024;
const smallestChunk = 64;
/** What a chunk costs beside its bytes. */
const chunkBytes = 256;

/** The bytes of one file in chunks, so that growing never copies the whole. Chunks never written are not there. */
export class FileContent {
  #size = 0;
  readonly #chunks = new Map<number, Uint8Array>();
  readonly #quota: Quota;

  constructor(quota: Quota) {
    this.#quota = quota;
  }

  get size(): number {
    return this.#size;
  }

  /** Fills `target` from `position` on; the number of bytes that were there. */
  read(position: number, target: Uint8Array): number {
    const length = Math.max(0, Math.min(target.length, this.#size - position));
    for (let done = 0; done < length; ) {
      const [index, offset] = place(position + done);
      const step = Math.min(length - done, chunkSize - offset);
      const chunk = this.#chunks.get(index);
      const part = target.subarray(done, done + step);
      const stored = chunk?.subarray(offset, offset + step) ?? new Uint8Array();
      part.set(stored);
      part.fill(0, stored.length);
      done += step;
    }
    return length;
  }

  /** Puts `bytes` at `position`; what lies between the old end and it reads as zeros. */
  write(position: number, bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      const [index, offset] = place(position + done);
      const step = Math.min(bytes.length - done, chunkSize - offset);
      this.#chunk(index, offset + step).set(bytes.subarray(done, done + step), offset);
      done += step;
      this.#size = Math.max(this.#size, position + done);
    }
  }

  /** Cuts the file, or lengthens it with zeros. */
  truncate(size: number): void {
    const [last, offset] = place(size);
    const kept = offset > 0 ? last + 1 : last;
    // A map is walked by what is there: a file with holes can be a million times its chunks.
    for (const [index, chunk] of this.#chunks) {
      if (index < kept) continue;
      this.#quota.give(chunkBytes + chunk.length);
      this.#chunks.delete(index);
    }
    this.#chunks.get(last)?.fill(0, offset);
    this.#size = size;
  }

  /** The chunk, able to hold `capacity` bytes. */
  #chunk(index: number, capacity: number): Uint8Array {
    const old = this.#chunks.get(index);
    if (old && old.length >= capacity) return old;
    let size = Math.max(smallestChunk, old?.length ?? 0);
    while (size < capacity) size *= 2;
    this.#quota.take(old ? size - old.length : chunkBytes + size);
    const chunk = new Uint8Array(size);
    if (old) chunk.set(old);
    this.#chunks.set(index, chunk);
    return chunk;
  }
}

function place(position: number): [index: number, offset: number] {
  return [Math.floor(position / chunkSize), position % chunkSize];
}
