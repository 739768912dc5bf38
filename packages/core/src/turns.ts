/** Lets a number of things happen at one time; the others wait in the order in which they came. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOneTime: number) {
    this.#free = atOneTime;
  }

  /** Runs the work when its turn has come. @throws the reason of a signal that is aborted before that */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      this.#free += 1;
      this.#next();
    }
  }

  #take(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const turn = () => {
        signal?.removeEventListener("abort", giveUp);
        this.#free -= 1;
        resolve();
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting.push(turn);
      this.#next();
    });
  }

  #next(): void {
    if (this.#free > 0) this.#waiting.shift()?.();
  }
}
