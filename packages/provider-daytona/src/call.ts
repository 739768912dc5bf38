import { unlessAborted } from "@sandkit/core";
import { tryAgain } from "@sandkit/core/kit";
import { type CallContext, daytonaError, isPassing, retryAfterOf } from "./errors.js";

/** Longest that one HTTP request of the SDK may wait for its answer. Its own default is a day. */
export const requestTimeoutMs = 60_000;

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
export function patiently<T>(
  context: CallContext,
  call: () => Promise<T>,
  signal?: AbortSignal | undefined,
): Promise<T> {
  return tryAgain(() => onDaytona(context, call, signal), { mayPass: isPassing, askedMs: retryAfterOf, signal });
}
