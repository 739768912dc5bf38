/** Bytes that grow until they are complete, for readers that begin at any time. */
export class CommandLog {
  #chunks: Buffer[] = [];
  #complete = false;
  #changed: (() => void)[] = [];

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
    let at = 0;
    while (!signal.aborted) {
      const { bytes } = this;
      if (at < bytes.length) {
        const frame = bytes.subarray(at, at + most);
        at += frame.length;
        yield frame;
      } else if (this.#complete) return;
      else await this.#change(signal);
    }
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#changed.push(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  #tell(): void {
    for (const resolve of this.#changed.splice(0)) resolve();
  }
}
