import { messageOf, SandboxError } from "../errors.js";

/**
 * Undoes what was begun before something failed, and gives the error to throw: the first one. When the undoing fails
 * too, its message says so, unless the caller has left: an abort keeps its own reason.
 */
export async function undone(error: unknown, undo: () => Promise<void>, signal?: AbortSignal): Promise<unknown> {
  try {
    await undo();
  } catch (failure) {
    if (!(error instanceof SandboxError) || (signal?.aborted && error === signal.reason)) return error;
    const message = `${error.message} (and what was made is perhaps still there: ${messageOf(failure)}; nobody renews its lease, which ends it)`;
    return new SandboxError(error.code, message, { ...error.toJSON(), cause: error });
  }
  return error;
}
