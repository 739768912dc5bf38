const intervalMs = 2_000;
/** So many questions without any word in return, and the process is taken for dead: about 14 s. */
const missedAtMost = 7;

/**
 * Asks a process that owes answers whether it still lives. One that is stopped or stuck answers nothing, and without
 * this its calls would wait for ever.
 */
export class Heartbeat {
  readonly #ask: () => void;
  readonly #onSilence: () => void;
  #timer: NodeJS.Timeout | undefined;
  #missed = 0;

  constructor(ask: () => void, onSilence: () => void) {
    this.#ask = ask;
    this.#onSilence = onSilence;
  }

  /** Asks from now on, or no longer. */
  watch(owing: boolean): void {
    if (!owing) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    } else if (!this.#timer) {
      this.#missed = 0;
      this.#timer = setInterval(() => this.#beat(), intervalMs);
      this.#timer.unref();
    }
  }

  /** Something came from the process. */
  heard(): void {
    this.#missed = 0;
  }

  /** Counts turns of our own event loop rather than time: after a pause of this process what came is read first. */
  #beat(): void {
    this.#missed += 1;
    if (this.#missed > missedAtMost) this.#onSilence();
    else this.#ask();
  }
}
