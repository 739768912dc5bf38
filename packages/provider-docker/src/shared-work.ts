import { unlessAborted } from "@sandkit/core";

interface Job<T> {
  readonly result: Promise<T>;
  readonly stop: AbortController;
  readonly listeners: Set<(message: string) => void>;
  waiting: number;
}

/** Work that several ask for at one time and that is done once; it is given up when nobody waits for it any more. */
export class SharedWork<T> {
  readonly #jobs = new Map<string, Job<T>>();

  /** The result of the work of this key, started now or under way. */
  async run(
    key: string,
    asker: { readonly signal?: AbortSignal | undefined; readonly onProgress?: ((message: string) => void) | undefined },
    work: (context: { readonly signal: AbortSignal; readonly onProgress: (message: string) => void }) => Promise<T>,
  ): Promise<T> {
    asker.signal?.throwIfAborted();
    const job = this.#jobs.get(key) ?? this.#start(key, work);
    if (asker.onProgress) job.listeners.add(asker.onProgress);
    job.waiting += 1;
    try {
      return await unlessAborted(job.result, asker.signal);
    } finally {
      job.waiting -= 1;
      if (asker.onProgress) job.listeners.delete(asker.onProgress);
      if (job.waiting === 0) this.#end(key, job);
    }
  }

  #start(
    key: string,
    work: (context: { readonly signal: AbortSignal; readonly onProgress: (message: string) => void }) => Promise<T>,
  ): Job<T> {
    const stop = new AbortController();
    const listeners: Job<T>["listeners"] = new Set();
    const onProgress = (message: string) => {
      for (const listener of listeners) listener(message);
    };
    const job: Job<T> = { result: work({ signal: stop.signal, onProgress }), stop, listeners, waiting: 0 };
    // Whoever waits is told; when nobody does, it was given up.
    job.result.catch(() => undefined);
    this.#jobs.set(key, job);
    return job;
  }

  #end(key: string, job: Job<T>): void {
    if (this.#jobs.get(key) === job) this.#jobs.delete(key);
    job.stop.abort(new Error("nobody waits for it any more"));
  }
}
