type Listener = () => void;

/** As much of the web's class as the commands of the shell use to cancel one another. */
export class AbortSignal {
  aborted = false;
  reason: unknown;
  readonly #listeners = new Set<Listener>();

  addEventListener(_type: "abort", listener: Listener): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: Listener): void {
    this.#listeners.delete(listener);
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  /** Ends what waits. Once. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of [...this.#listeners]) listener();
    this.#listeners.clear();
  }
}

export class AbortController {
  readonly signal = new AbortSignal();

  abort(reason: unknown = new Error("aborted")): void {
    this.signal.abort(reason);
  }
}
