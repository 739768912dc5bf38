import { setTimeout as pause } from "node:timers/promises";
import { unlessAborted } from "@sandkit/core";
import { type CallContext, daytonaError, isPassing, retryAfterOf } from "./errors.js";

/** Longest that one HTTP request of the SDK may wait for its answer. Its own default is a day. */
export const requestTimeoutMs = 60_000;

const mostTries = 4;
const firstWaitMs = 250;
/** Whoever asks for a longer wait is told to the caller instead. */
const longestWaitMs = 10_000;

/** Makes one call to Daytona; whatever it throws leaves as a `SandboxError`, an abort as its reason. */
export async function onDaytona<T>(
  context: CallContext,
  call: () => Promise<T>,
  signal?: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await unlessAborted(call(), signal);
  } catch (reason) {
    signal?.throwIfAborted();
    throw daytonaError(reason, context);
  }
}

/** The same for a call that may be made twice: once more when nobody answered, or somebody who was too busy. */
export async function patiently<T>(
  context: CallContext,
  call: () => Promise<T>,
  signal?: AbortSignal | undefined,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await onDaytona(context, call, signal);
    } catch (error) {
      if (attempt === mostTries || !isPassing(error) || (retryAfterOf(error) ?? 0) > longestWaitMs) throw error;
      await pause(waitBefore(attempt, error), undefined, { signal });
    }
  }
}

/** How long to wait before another attempt: as long as Daytona asks for, else longer each time. */
export function waitBefore(attempt: number, error: unknown): number {
  const asked = retryAfterOf(error);
  // Not all who were turned away at one time should come back at one time.
  const jitter = 0.75 + Math.random() / 2;
  return asked ?? Math.min(firstWaitMs * 2 ** (attempt - 1) * jitter, longestWaitMs);
}
