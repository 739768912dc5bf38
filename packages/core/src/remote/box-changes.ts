import { settlesWithin } from "../deadline.js";

/** How long the end waits for a change that is under way, in milliseconds, before it goes on without. */
const overtakeMs = 10_000;

/**
 * Changes of a whole box (a pause, a resumption, a copy, its end): one after another, in the order in which they were
 * asked for.
 */
export class BoxChanges {
  /** Settles when the last that was asked for is over; never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param refused Why it is not begun any more when its turn has come. */
  run<Result>(work: () => Promise<Result>, refused: () => Error | undefined): Promise<Result> {
    const turn = this.#last.then(() => {
      const reason = refused();
      if (reason) throw reason;
      return work();
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Waits for those that were asked for, as vendors refuse to remove what is changing, but not for long. */
  async settle(): Promise<void> {
    await settlesWithin(this.#last, overtakeMs);
  }
}
