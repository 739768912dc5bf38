import type { Provider, ProviderSession } from "../provider.js";

/** A provider whose sandboxes can be counted and are sure to be destroyed. */
export interface TrackedProvider {
  readonly provider: Provider;
  /** How many sandboxes it has made since the last {@link destroyAll}. */
  created(): number;
  /** Ends every sandbox made since; throws what went wrong after trying all. */
  destroyAll(): Promise<void>;
}

/** Watches what is created through a provider; everything else is passed on untouched. */
export function trackProvider(inner: Provider): TrackedProvider {
  const sessions: ProviderSession[] = [];
  let created = 0;
  const provider: Provider = {
    name: inner.name,
    capabilities: inner.capabilities,
    validate: (options) => inner.validate(options),
    async create(options) {
      const session = await inner.create(options);
      created += 1;
      sessions.push(session);
      return session;
    },
    attach: (ref, options) => inner.attach(ref, options),
    list: (options) => inner.list(options),
    reap: (options) => inner.reap(options),
    ...(inner.snapshots && { snapshots: inner.snapshots.bind(inner) }),
    ...(inner.removeSnapshot && { removeSnapshot: inner.removeSnapshot.bind(inner) }),
    check: () => inner.check(),
    close: async () => inner.close?.(),
  };
  return {
    provider,
    created: () => created,
    async destroyAll() {
      created = 0;
      const results = await Promise.allSettled(sessions.splice(0).map((session) => session.destroy()));
      const failed = results.filter((result) => result.status === "rejected").map((result) => result.reason);
      if (failed.length > 0) throw new AggregateError(failed, "sandboxes of the case could not be destroyed");
    },
  };
}
