import { type CreateOptions, type Provider, type ProviderSession, SandboxError } from "@sandkit/core";
import { type Mutant, overlay, withSession } from "./mutant.js";

/** Sandboxes that end otherwise than they should, or are found again where they should not be. */
export const lifecycleMutants: readonly Mutant[] = [
  {
    id: "name-ignored",
    description: "creating with a name always makes a new sandbox",
    caughtBy: ["lifecycle.name.same-options", "lifecycle.name.at-once"],
    mutate: (provider) => overlay(provider, { create: ({ name: _, ...options }) => provider.create(options) }),
  },
  {
    id: "name-without-conflict",
    description: "creating with a name gives the living sandbox, whatever its options are",
    caughtBy: ["lifecycle.name.other-options"],
    mutate: (provider) => {
      const first = new Map<string | undefined, CreateOptions>();
      return overlay(provider, {
        create(options) {
          const known = options.name === undefined ? options : (first.get(options.name) ?? options);
          first.set(options.name, known);
          return provider.create(known);
        },
      });
    },
  },
  {
    id: "name-kept-after-destroy",
    description: "a name leads to the sandbox that was destroyed",
    caughtBy: ["lifecycle.name.after-destroy"],
    mutate: (provider) => {
      const named = new Map<string, ProviderSession>();
      return overlay(provider, {
        async create(options) {
          const known = options.name === undefined ? undefined : named.get(options.name);
          const session = known ?? (await provider.create(options));
          if (options.name !== undefined) named.set(options.name, session);
          return session;
        },
      });
    },
  },
  {
    id: "attach-zombie",
    description: "attaching to a sandbox that is gone gives a session all the same",
    caughtBy: ["lifecycle.attach.gone"],
    mutate: (provider) => {
      const all = new Map<string, ProviderSession>();
      return overlay(provider, {
        async create(options) {
          const session = await provider.create(options);
          all.set(session.ref.id, session);
          return session;
        },
        attach: async (ref, options) => (await provider.attach(ref, options)) ?? all.get(ref.id) ?? null,
      });
    },
  },
  {
    id: "attach-never-finds",
    description: "a failure to find a living sandbox is told as its absence",
    caughtBy: ["lifecycle.attach", "lifecycle.attach.shared-end"],
    mutate: (provider) => overlay(provider, { attach: async () => null }),
  },
  {
    id: "destroy-leaves-work",
    description: "destroy forgets the sandbox, and its programs run on",
    caughtBy: ["lifecycle.destroy.ends-work"],
    mutate: (provider) => withSession(provider, () => ({ destroy: async () => undefined })),
  },
  {
    id: "destroy-once",
    description: "destroying again is an error",
    caughtBy: ["lifecycle.attach.shared-end"],
    mutate: (provider) => {
      const destroyed = new Set<string>();
      return withSession(provider, (session) => ({
        async destroy() {
          const { id } = session.ref;
          if (destroyed.has(id)) throw new SandboxError("NOT_FOUND", `sandbox ${id} does not exist`);
          destroyed.add(id);
          await session.destroy();
        },
      }));
    },
  },
  {
    id: "list-labels-ignored",
    description: "list gives every sandbox, whatever labels are asked for",
    caughtBy: ["lifecycle.list"],
    mutate: (provider) => overlay(provider, { list: () => provider.list() }),
  },
  {
    id: "list-empty",
    description: "list is empty, as it is where every failure becomes an empty list",
    caughtBy: ["lifecycle.list"],
    mutate: (provider) => overlay(provider, { list: async function* () {} }),
  },
  {
    id: "info-made-up",
    description: "info is guessed instead of asked for",
    caughtBy: ["lifecycle.info", "lifecycle.attach"],
    mutate: (provider) =>
      withSession(provider, (session) => ({
        info: async () => ({
          ref: session.ref,
          state: "running",
          origin: "created",
          createdAt: new Date(0),
          labels: {},
          shells: ["sh"],
          interpreters: [],
        }),
      })),
  },
  {
    id: "info-names-too-much",
    description: "info names an interpreter that is not there",
    caughtBy: ["lifecycle.info.interpreters"],
    mutate: (provider) =>
      withSession(provider, (session) => ({
        async info() {
          const info = await session.info();
          return { ...info, interpreters: [...info.interpreters, "no-such-interpreter"] };
        },
      })),
  },
  {
    id: "labels-dropped",
    description: "labels are not kept",
    caughtBy: ["lifecycle.info", "lifecycle.list"],
    mutate: (provider) => overlay(provider, { create: ({ labels: _, ...options }) => provider.create(options) }),
  },
  {
    id: "ttl-ignored",
    description: "a sandbox lives on after its time",
    caughtBy: ["lifecycle.ttl"],
    mutate: (provider) => withLifetime(provider, ({ ttlMs: _, ...lifetime }) => lifetime),
  },
  {
    id: "ttl-in-seconds",
    description: "milliseconds are taken for seconds",
    caughtBy: ["lifecycle.ttl"],
    mutate: (provider) =>
      withLifetime(provider, (lifetime) => ({ ...lifetime, ttlMs: lifetime.ttlMs && lifetime.ttlMs * 1000 })),
  },
  {
    id: "extend-ignored",
    description: "extend is accepted and does nothing",
    caughtBy: ["lifecycle.extend"],
    mutate: (provider) => withSession(provider, () => ({ extend: async () => undefined })),
  },
  {
    id: "idle-from-creation",
    description: "use does not keep an idle sandbox",
    caughtBy: ["lifecycle.idle", "lifecycle.idle.working"],
    mutate: (provider) => withLifetime(provider, ({ idleMs, ttlMs }) => ({ ttlMs: ttlMs ?? idleMs })),
  },
  {
    id: "reap-living",
    description: "reaping removes sandboxes whose owner lives",
    caughtBy: ["lifecycle.reap.spares-the-living"],
    mutate: (provider) =>
      overlay(provider, {
        async reap() {
          const refs = [];
          for await (const { ref } of provider.list()) refs.push(ref);
          for (const ref of refs) await (await provider.attach(ref))?.destroy();
          return refs;
        },
      }),
  },
  {
    id: "create-late",
    description: "a creation that was aborted leaves a sandbox",
    caughtBy: ["lifecycle.create.aborted.midway"],
    mutate: (provider) =>
      overlay(provider, {
        async create({ signal, ...options }) {
          const session = await provider.create(options);
          return signal?.aborted ? overlay(session, { destroy: async () => undefined }) : session;
        },
      }),
  },
];

function withLifetime(
  provider: Provider,
  change: (lifetime: NonNullable<CreateOptions["lifetime"]>) => CreateOptions["lifetime"],
): Provider {
  return overlay(provider, {
    create: (options) => provider.create({ ...options, lifetime: options.lifetime && change(options.lifetime) }),
  });
}
