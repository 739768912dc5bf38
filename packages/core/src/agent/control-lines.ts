/** A line that is charged for more than its text: each one also costs its reader some memory. */
const lineBytes = 200;

/** Cuts what a driver writes into lines, within a budget that is renewed for each cell. */
export class ControlLines {
  readonly #most: number;
  #left: number;
  #pieces: Uint8Array[] = [];

  /** @param most bytes that one cell may cost */
  constructor(most: number) {
    this.#most = most;
    this.#left = most;
  }

  /** The lines that a chunk completes. @throws Error when the budget is spent */
  *add(chunk: Uint8Array): Generator<string> {
    for (let start = 0; start < chunk.length; ) {
      const end = chunk.indexOf(0x0a, start);
      const piece = chunk.subarray(start, end < 0 ? chunk.length : end);
      this.#spend(piece.length + lineBytes);
      this.#pieces.push(piece);
      if (end < 0) return;
      start = end + 1;
      yield this.#take();
    }
  }

  renew(): void {
    this.#left = this.#most;
  }

  #take(): string {
    const text = new TextDecoder().decode(Buffer.concat(this.#pieces));
    this.#pieces = [];
    return text;
  }

  #spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw new Error(`a cell gave more than ${this.#most} bytes of results`);
  }
}
