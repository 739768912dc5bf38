/** Why a deadline struck. */
export type DeadlineReason = "timeout" | "aborted";

/**
 * A timeout and an abort signal as one thing that strikes at most once. Its clock belongs to the host and can stand
 * still while a person is asked.
 */
export class Deadline implements Disposable {
  readonly #onStrike: (reason: DeadlineReason) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.#strike("aborted");
  #timer: NodeJS.Timeout | undefined;
  #remainingMs: number | undefined;
  #runningSince: number | undefined;
  #over = false;

  /** The clock stands still until {@link resume}; the signal counts at once. */
  constructor(
    options: { readonly timeoutMs?: number | undefined; readonly signal?: AbortSignal | undefined },
    onStrike: (reason: DeadlineReason) => void,
  ) {
    this.#onStrike = onStrike;
    this.#remainingMs = options.timeoutMs;
    this.#signal = options.signal;
    if (this.#signal?.aborted) queueMicrotask(this.#onAbort);
    else this.#signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Lets the clock run. */
  resume(): void {
    if (this.#over || this.#remainingMs === undefined || this.#runningSince !== undefined) return;
    this.#runningSince = performance.now();
    this.#timer = setTimeout(() => this.#strike("timeout"), this.#remainingMs);
  }

  /** Stops the clock; what is left stays left. */
  pause(): void {
    if (this.#runningSince === undefined || this.#remainingMs === undefined) return;
    clearTimeout(this.#timer);
    this.#remainingMs = Math.max(0, this.#remainingMs - (performance.now() - this.#runningSince));
    this.#runningSince = undefined;
  }

  #strike(reason: DeadlineReason): void {
    if (this.#over) return;
    this[Symbol.dispose]();
    this.#onStrike(reason);
  }

  [Symbol.dispose](): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** Resolves to true when the promise settles in time, either way. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const settled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([settled, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The promise, or a rejection with `signal.reason` if the signal comes first. The work itself goes on. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  if (signal.aborted) {
    promise.catch(() => undefined);
    return Promise.reject(signal.reason);
  }
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const over = () => signal.removeEventListener("abort", onAbort);
    promise.then(
      (value) => {
        over();
        resolve(value);
      },
      (error) => {
        over();
        reject(error);
      },
    );
  });
}
