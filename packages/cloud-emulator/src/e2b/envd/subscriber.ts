import { type Deferred, deferred } from "@sandkit/core";

/**
 * The events of one process for one client. It holds a bounded number; then whoever adds one waits, which is how a
 * client that does not read holds the program up.
 */
export class Subscriber<T> implements AsyncIterable<T> {
  readonly #limit: number;
  readonly #held: T[] = [];
  #room: Deferred<void> | undefined;
  #more: Deferred<void> | undefined;
  #ended = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves when there is room for the next one. */
  async add(event: T): Promise<void> {
    if (this.#ended) return;
    this.#held.push(event);
    this.#more?.resolve();
    if (this.#held.length < this.#limit) return;
    this.#room ??= deferred();
    await this.#room.promise;
  }

  /** No more will come, or be taken. */
  end(): void {
    this.#ended = true;
    this.#room?.resolve();
    this.#more?.resolve();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    try {
      for (;;) {
        const [event] = this.#held.splice(0, 1);
        if (event !== undefined) {
          this.#room?.resolve();
          this.#room = undefined;
          yield event;
        } else if (this.#ended) return;
        else {
          this.#more = deferred();
          await this.#more.promise;
        }
      }
    } finally {
      this.end();
    }
  }
}
