import { settlesWithin } from "../deadline.js";

/** A stream of which the first bytes have been looked at. */
export interface LookedAt {
  /** How many have come; fewer than were asked for: that is all, or the rest did not come soon enough. */
  readonly size: number;
  /** Still all of it. */
  readonly whole: ReadableStream<Uint8Array>;
}

/**
 * Takes so much of a stream that it is known whether it is long.
 * @param withinMs Pieces that come later than this after one another are not waited for; default: all are.
 * @throws what the stream fails with; or `signal.reason`, and the stream is cancelled then
 */
export async function firstOf(
  data: ReadableStream<Uint8Array>,
  enough: number,
  options: { readonly withinMs?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<LookedAt> {
  const { withinMs, signal } = options;
  const reader = data.getReader();
  const pieces: Uint8Array[] = [];
  let waiting: ReturnType<typeof reader.read> | undefined;
  let size = 0;
  let ended = false;
  const next = () => {
    waiting ??= reader.read();
    waiting.catch(() => undefined);
    return waiting;
  };
  const comesSoon = () => withinMs === undefined || settlesWithin(next(), withinMs);
  const onAbort = () => {
    reader.cancel(signal?.reason).catch(() => undefined);
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    while (size < enough && !ended && (await comesSoon())) {
      const { done, value } = await next();
      waiting = undefined;
      ended = done;
      if (value) pieces.push(value);
      size += value?.byteLength ?? 0;
    }
    signal?.throwIfAborted();
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
  const whole = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = pieces.shift();
        if (piece) {
          controller.enqueue(piece);
          return;
        }
        const { done, value } = await next();
        waiting = undefined;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return { size, whole };
}
