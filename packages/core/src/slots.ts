/** Lets a number of things happen at one time; the others wait in the order in which they came. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOneTime: number) {
    this.#free = atOneTime;
  }

  /** Runs the work once there is a slot for it. @throws the reason of a signal that is aborted before that */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const giveBack = await this.take(signal);
    try {
      return await work();
    } finally {
      giveBack();
    }
  }

  /**
   * Resolves with the function that gives the slot back; to call it again does nothing.
   * @throws the reason of a signal that is aborted before that
   */
  async take(signal?: AbortSignal | undefined): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(signal);
    let held = true;
    return () => {
      if (held) this.#giveBack();
      held = false;
    };
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      this.#waiting.push(begin);
    });
  }

  /** A slot goes from one to the next, so that nobody who comes just then is before those who wait. */
  #giveBack(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
