import { setImmediate as othersFirst } from "node:timers/promises";

const longestTurnMs = 10;

/** Keeps long work from occupying the process that it is done in. */
export class Pace {
  #turnEnds = performance.now() + longestTurnMs;

  /** Gives a promise to await when it is the turn of others. */
  next(): Promise<void> | undefined {
    return performance.now() < this.#turnEnds ? undefined : this.#yield();
  }

  async #yield(): Promise<void> {
    await othersFirst();
    this.#turnEnds = performance.now() + longestTurnMs;
  }
}
