import { setTimeout as pause } from "node:timers/promises";

const firstWaitMs = 250;
/** Whoever asks for a longer wait is told to the caller instead. */
const longestWaitMs = 10_000;
const defaultTries = 4;

/** When a call to a vendor is made again. */
export interface TryAgainOptions {
  /** Whether the same call may succeed in a moment, and does no harm twice. */
  mayPass(error: unknown): boolean;
  /** How long the vendor asks to wait, in milliseconds. */
  askedMs?(error: unknown): number | undefined;
  /** Default 4. */
  readonly mostTries?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Makes a call, and makes it again after what may pass. @throws what the last try throws, or `signal.reason` */
export async function tryAgain<T>(make: () => Promise<T>, options: TryAgainOptions): Promise<T> {
  const { mayPass, askedMs, mostTries = defaultTries, signal } = options;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await make();
    } catch (error) {
      signal?.throwIfAborted();
      const asked = askedMs?.(error);
      if (attempt === mostTries || !mayPass(error) || (asked ?? 0) > longestWaitMs) throw error;
      await wait(waitBefore(attempt, asked), signal);
    }
  }
}

/** How long to wait before another attempt: as long as the vendor asks for, else longer each time. */
export function waitBefore(attempt: number, askedMs?: number | undefined): number {
  if (askedMs !== undefined) return askedMs;
  // Not all who were turned away at one time should come back at one time.
  const jitter = 0.75 + Math.random() / 2;
  return Math.min(firstWaitMs * 3 ** (attempt - 1) * jitter, longestWaitMs);
}

/** Waits. @throws `signal.reason` */
export async function wait(ms: number, signal?: AbortSignal | undefined): Promise<void> {
  try {
    await pause(ms, undefined, { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
