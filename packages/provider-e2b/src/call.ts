import type { SandboxError } from "@sandkit/core";
import { tryAgain } from "@sandkit/core/kit";
import { type CallContext, e2bError, isPassing, isRefusal } from "./errors.js";

/** What each try of a call gets; both go to the SDK. */
export interface Attempt {
  readonly requestTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** How a call is made. */
export interface CallOptions {
  /** Of each try, in milliseconds; default 30 s. */
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * When it is tried again: `always` after what may pass soon, for calls that do no harm twice; `refused` only after
   * an answer that says that nothing was done; `never`. Default `always`.
   */
  readonly again?: "always" | "refused" | "never" | undefined;
  /** What an error really means, where E2B's word is not to be taken for it. */
  readonly believe?: ((error: SandboxError) => Promise<SandboxError>) | undefined;
}

const defaultDeadlineMs = 30_000;

/**
 * Makes a call to E2B: with a deadline, and again after what passes; what `Retry-After` says, the SDK has waited for
 * already. Whatever it throws is a `SandboxError`, or `signal.reason`.
 */
export async function call<T>(
  context: CallContext,
  make: (attempt: Attempt) => Promise<T>,
  { deadlineMs = defaultDeadlineMs, signal, again = "always", believe }: CallOptions = {},
): Promise<T> {
  const attempt = async () => {
    try {
      return await make({ requestTimeoutMs: deadlineMs, signal });
    } catch (reason) {
      signal?.throwIfAborted();
      const said = e2bError(reason, context);
      throw believe ? await believe(said) : said;
    }
  };
  return tryAgain(attempt, { signal, mayPass: (error) => mayTryAgain(e2bError(error, context), again) });
}

function mayTryAgain(error: SandboxError, again: CallOptions["again"]): boolean {
  if (again === "always") return isPassing(error);
  return again === "refused" && isRefusal(error);
}
