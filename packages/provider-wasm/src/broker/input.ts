/** Standard input of one program: bytes given by the caller, taken by the program, each waiting for the other. */
export class Input {
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #closed: boolean;
  /** The program's read that waits for bytes. */
  #reader: { limit: number; take: (bytes: Uint8Array | null) => void } | undefined;
  readonly #writers: (() => void)[] = [];

  /** @param open False: end of file at once. */
  constructor(open: boolean) {
    this.#closed = !open;
  }

  /** Resolves when the bytes are accepted: when little enough waits to be read. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#closed || bytes.length === 0) return Promise.resolve();
    this.#chunks.push(bytes);
    this.#size += bytes.length;
    this.#serve();
    if (this.#size <= highWater) return Promise.resolve();
    return new Promise((resolve) => this.#writers.push(resolve));
  }

  close(): void {
    this.#closed = true;
    this.#serve();
  }

  /** Gives up to `limit` bytes as soon as there are any; none at the end; null when interrupted. */
  read(limit: number, take: (bytes: Uint8Array | null) => void): void {
    this.#reader = { limit, take };
    this.#serve();
  }

  /** Ends a read that waits, for a signal. */
  interrupt(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.take(null);
  }

  /** The program is gone: nothing waits any more. */
  discard(): void {
    this.#closed = true;
    this.#reader = undefined;
    this.#chunks.length = 0;
    this.#size = 0;
    this.#wakeWriters();
  }

  #serve(): void {
    const reader = this.#reader;
    if (!reader) return;
    const first = this.#chunks[0];
    if (!first && !this.#closed) return;
    this.#reader = undefined;
    const bytes = first?.subarray(0, reader.limit) ?? new Uint8Array();
    if (first && bytes.length < first.length) this.#chunks[0] = first.subarray(bytes.length);
    else this.#chunks.shift();
    this.#size -= bytes.length;
    if (this.#size <= highWater) this.#wakeWriters();
    reader.take(bytes);
  }

  #wakeWriters(): void {
    for (const wake of this.#writers.splice(0)) wake();
  }
}

const highWater = 64 * 1024;
