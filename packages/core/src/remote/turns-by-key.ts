import { unlessAborted } from "../deadline.js";

/** Work on one key at a time, in the order in which it came; other keys do not wait. */
export class TurnsByKey {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Work that has begun is waited for. @throws what the work throws; or the reason of a signal that is aborted before
   * its turn, which goes to the next then
   */
  async run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal | undefined): Promise<T> {
    let begun = (): void => undefined;
    const waiting = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const begin = () => {
      signal?.throwIfAborted();
      begun();
      return work();
    };
    const turn = Promise.resolve(this.#last.get(key)).then(begin, begin);
    this.#last.set(key, turn);
    const forget = () => {
      if (this.#last.get(key) === turn) this.#last.delete(key);
    };
    turn.then(forget, forget);
    await unlessAborted(Promise.race([waiting, turn]), signal);
    return turn;
  }
}
