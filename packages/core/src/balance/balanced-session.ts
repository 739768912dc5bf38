import type { ProviderSession } from "../provider.js";
import { outerId, outerRef } from "./balanced-ref.js";
import { renamed, renameErrors } from "./renamed-errors.js";

/** Where a session belongs, and who wants to know of its end and of its copies. */
export interface SessionPlace {
  /** Of the whole. */
  readonly name: string;
  readonly key: string;
  readonly onDestroyed: (session: ProviderSession) => void;
  /** Takes a copy in. */
  readonly adopt: (session: ProviderSession) => ProviderSession;
}

/** A session of a backend under its name in the whole; all else is the backend's own, call by call. */
export function balancedSession(inner: ProviderSession, place: SessionPlace): ProviderSession {
  const { name, key, onDestroyed, adopt } = place;
  const ref = outerRef(name, key, inner.ref);
  const rename = renameErrors(inner.ref, ref);
  // What its members give is renamed in their place.
  const session = renamed(inner, rename);
  const { process, kernel, fork, snapshot } = session;
  return renamed(inner, rename, {
    ref,
    files: renamed(inner.files, rename),
    spawn: async (command, options) => renamed(await session.spawn(command, options), rename),
    info: async () => ({ ...(await session.info()), ref }),
    async destroy() {
      await session.destroy();
      onDestroyed(inner);
    },
    ...(process && {
      process: async (id) => {
        const found = await process(id);
        return found && renamed(found, rename);
      },
    }),
    ...(kernel && { kernel: async (options) => renamed(await kernel(options), rename) }),
    ...(fork && { fork: async (count) => (await fork(count)).map(adopt) }),
    ...(snapshot && {
      snapshot: async (label) => {
        const made = await snapshot(label);
        return { ...made, id: outerId(key, made.id) };
      },
    }),
  });
}
