import type { Timers } from "./timers.js";

type Listener = (event: { readonly type: "abort"; readonly target: AbortSignal }) => unknown;

/** The web's error of that name, as far as programs look at it. */
function webError(name: string, message: string): Error {
  return Object.defineProperty(new Error(message), "name", { value: name, configurable: true, writable: true });
}

/** The web's `AbortSignal`. */
export class AbortSignal {
  onabort: Listener | null = null;
  readonly #listeners = new Map<Listener, boolean>();
  #state: { readonly reason: unknown } | undefined;

  static abort(reason?: unknown): AbortSignal {
    const signal = new AbortSignal();
    signal.signal(reason);
    return signal;
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const any = new AbortSignal();
    for (const signal of signals) {
      if (signal.aborted) any.signal(signal.reason);
      else signal.addEventListener("abort", () => any.signal(signal.reason));
    }
    return any;
  }

  get aborted(): boolean {
    return this.#state !== undefined;
  }

  get reason(): unknown {
    return this.#state?.reason;
  }

  throwIfAborted(): void {
    if (this.#state) throw this.#state.reason;
  }

  addEventListener(type: string, listener: Listener, options?: { once?: boolean }): void {
    if (type === "abort") this.#listeners.set(listener, options?.once === true);
  }

  removeEventListener(_type: string, listener: Listener): void {
    this.#listeners.delete(listener);
  }

  /** Aborts it; not for programs, which have controllers. */
  signal(reason: unknown = webError("AbortError", "This operation was aborted")): void {
    if (this.#state) return;
    this.#state = { reason };
    const listeners = [...this.#listeners.keys()];
    this.#listeners.clear();
    for (const listener of [...listeners, ...(this.onabort ? [this.onabort] : [])]) {
      listener.call(this, { type: "abort", target: this });
    }
  }
}

/** The web's `AbortController`. */
export class AbortController {
  readonly signal = new AbortSignal();

  abort(reason?: unknown): void {
    this.signal.signal(reason);
  }
}

/** `AbortSignal` with its `timeout`, which keeps no program alive. */
export function withTimeout(timers: Timers): typeof AbortSignal {
  const timeout = (ms: number): AbortSignal => {
    const signal = new AbortSignal();
    const reason = () => webError("TimeoutError", "The operation was aborted due to timeout");
    timers.setTimeout(() => signal.signal(reason()), ms).unref();
    return signal;
  };
  return Object.assign(AbortSignal, { timeout });
}
