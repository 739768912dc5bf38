import type { FirstUse } from "./at-first-use.js";
import { messageOf } from "./errors.js";
import type { Provider } from "./provider.js";

/** What a provider does, beside what it says of itself. */
export type ProviderWork<Native = unknown> = Omit<Provider<Native>, "name" | "capabilities" | "validate">;

/**
 * Members of a provider whose work is loaded when it is first asked for, so that to import it costs next to nothing.
 * Those that not every provider has (`snapshots`, `removeSnapshot`) are its own to pass on.
 */
export function workingLater<Native>(
  work: FirstUse<ProviderWork<Native>>,
): Pick<Provider<Native>, "create" | "attach" | "list" | "reap" | "check" | "close"> {
  return {
    create: async (options) => (await work.get()).create(options),
    attach: async (ref, options) => (await work.get()).attach(ref, options),
    list: async function* (options) {
      yield* (await work.get()).list(options);
    },
    reap: async (options) => (await work.get()).reap(options),
    async check() {
      try {
        return await (await work.get()).check();
      } catch (error) {
        return { ok: false, detail: messageOf(error), fix: ["install the package of the provider again"] };
      }
    },
    close: async () => (await work.made)?.close?.(),
  };
}
