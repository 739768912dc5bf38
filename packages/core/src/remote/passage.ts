/** Told of what passes. */
export interface PassageWatch {
  piece(): void;
  /** After the last one. What it throws fails the stream. */
  end?(size: number): void;
}

/** A stream on its way between a caller and a vendor: counted, with what its source failed with kept apart. */
export class Passage {
  readonly stream: ReadableStream<Uint8Array>;
  /** What the source itself failed with, whatever the vendor makes of it. */
  failure: { readonly reason: unknown } | undefined;
  /** Bytes that have passed. */
  size = 0;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(source: ReadableStream<Uint8Array>, watch: PassageWatch) {
    this.#reader = source.getReader();
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await this.#next();
          if (done) {
            watch.end?.(this.size);
            controller.close();
            return;
          }
          this.size += value.byteLength;
          watch.piece();
          controller.enqueue(value);
        },
        cancel: (reason) => this.#reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  /** Gives the source up, whoever holds the stream. Never rejects: why it is given up counts more. */
  async abandon(reason: unknown): Promise<void> {
    await this.#reader.cancel(reason).catch(() => undefined);
  }

  async #next(): ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]> {
    try {
      return await this.#reader.read();
    } catch (reason) {
      this.failure = { reason };
      throw reason;
    }
  }
}
