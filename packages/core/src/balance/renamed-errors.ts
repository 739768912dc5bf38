import { SandboxError } from "../errors.js";
import type { SandboxRef } from "../provider.js";

/** Gives an error that leaves a sandbox the name that the sandbox has outside. */
export type RenameError = (error: unknown) => unknown;

/** From the backend's own ref to that of the whole; errors about something else pass through. */
export function renameErrors(inner: SandboxRef, outer: SandboxRef): RenameError {
  return (error) => {
    if (!(error instanceof SandboxError) || error.provider !== inner.provider) return error;
    const { code, message, operation, retryable, retryAfterMs, result, packageFailure } = error;
    return new SandboxError(code, message.replaceAll(inner.id, outer.id), {
      ...{ operation, retryable, retryAfterMs, result, packageFailure },
      provider: outer.provider,
      sandboxId: error.sandboxId === undefined ? undefined : outer.id,
      cause: error,
    });
  };
}

/**
 * The same object, with other names in what its promises reject with, and with some members of its own. All else is the
 * object itself, which is called as itself: members of a class reach its private ones in no other way.
 */
export function renamed<T extends object>(target: T, rename: RenameError, own: Partial<T> = {}): T {
  return new Proxy(target, {
    get(_, member) {
      if (Object.hasOwn(own, member)) return Reflect.get(own, member);
      const value: unknown = Reflect.get(target, member, target);
      if (typeof value !== "function") return heldPromise(value, rename);
      return (...args: unknown[]) => settled(Reflect.apply(value, target, args), rename);
    },
  });
}

/** A promise that is a member is looked at by whom it concerns, and by nobody else. */
function heldPromise(value: unknown, rename: RenameError): unknown {
  const promise = settled(value, rename);
  if (promise instanceof Promise) promise.catch(() => undefined);
  return promise;
}

function settled(value: unknown, rename: RenameError): unknown {
  if (!(value instanceof Promise)) return value;
  return value.catch((error: unknown) => {
    throw rename(error);
  });
}
