const bufferedBytes = 128 * 1024;

/** One output of a program on its way to whoever reads it: bounded, and pulled. */
export class OutputPipe {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Nobody wants more: what comes is thrown away. */
  #cancelled = false;
  #over = false;

  /** @param onWanted Called when there is room again. */
  constructor(onWanted: () => void) {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: onWanted,
        cancel: () => {
          this.#cancelled = true;
          onWanted();
        },
      },
      { highWaterMark: bufferedBytes, size: (chunk) => chunk.byteLength },
    );
  }

  /** Whether more can be taken. */
  get wanted(): boolean {
    return this.#cancelled || this.#over || (this.#controller?.desiredSize ?? 0) > 0;
  }

  push(bytes: Uint8Array): void {
    if (!this.#cancelled && !this.#over && bytes.byteLength > 0) this.#controller?.enqueue(bytes);
  }

  /** Whether nobody reads on. */
  get cancelled(): boolean {
    return this.#cancelled;
  }

  fail(reason: unknown): void {
    if (!this.#over && !this.#cancelled) this.#controller?.error(reason);
    this.#over = true;
  }

  end(): void {
    if (!this.#over && !this.#cancelled) this.#controller?.close();
    this.#over = true;
  }
}
