/** Bytes that grow until they are complete, for readers that begin at any time. */
export class CommandLog {
  #chunks: Buffer[] = [];
  #complete = false;
  #waiting: (() => void)[] = [];

  /** Adds to the end. */
  add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.#tell();
  }

  /** Says that nothing more will come. */
  complete(): void {
    this.#complete = true;
    this.#tell();
  }

  /** All that is there. */
  get bytes(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  /** All of it in pieces of at most so many bytes, to its end or until aborted. */
  async *frames(most: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    const wake = () => this.#tell();
    signal.addEventListener("abort", wake);
    try {
      for (let at = 0; !signal.aborted; ) {
        const frame = this.bytes.subarray(at, at + most);
        at += frame.length;
        if (frame.length > 0) yield frame;
        else if (this.#complete) return;
        else await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    } finally {
      signal.removeEventListener("abort", wake);
    }
  }

  #tell(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
