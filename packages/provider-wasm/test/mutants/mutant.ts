import type {
  ExecuteOptions,
  KernelOptions,
  Provider,
  ProviderCell,
  ProviderKernel,
  ProviderSession,
} from "@sandkit/core";

/** The provider with one seeded defect in its kernels, of a kind that real kernels have had. */
export interface Mutant {
  readonly id: string;
  readonly description: string;
  /** Ids of the conformance cases that are there to notice it. */
  readonly caughtBy: readonly string[];
  mutate(provider: Provider): Provider;
}

type StartKernel = (options: KernelOptions) => Promise<ProviderKernel>;

/** Changes how the kernels of a sandbox are started. */
export function withStart(provider: Provider, change: (start: StartKernel) => StartKernel): Provider {
  return {
    ...provider,
    async create(options) {
      const session = await provider.create(options);
      if (!session.kernel) throw new Error(`sandbox ${session.ref.id} has no kernels to seed a defect in`);
      return withMember(session, "kernel", change(session.kernel.bind(session)));
    },
  };
}

/** Changes every kernel after its start. */
export function withKernel(provider: Provider, change: (kernel: ProviderKernel) => Partial<ProviderKernel>): Provider {
  return withStart(provider, (start) => async (options) => changed(await start(options), change));
}

/** Changes what every cell is said to have done. */
export function withCell(provider: Provider, change: (cell: ProviderCell) => ProviderCell): Provider {
  return withKernel(provider, (kernel) => ({
    execute: async (code, options) => change(await kernel.execute(code, options)),
  }));
}

/** Changes how output is handed on; `change` is called anew for every cell. */
export function withOutput(
  provider: Provider,
  change: (onOutput: ExecuteOptions["onOutput"]) => ExecuteOptions["onOutput"],
): Provider {
  return withKernel(provider, (kernel) => ({
    execute: (code, { onOutput }) => kernel.execute(code, { onOutput: change(onOutput) }),
  }));
}

function changed(kernel: ProviderKernel, change: (kernel: ProviderKernel) => Partial<ProviderKernel>): ProviderKernel {
  return {
    id: kernel.id,
    execute: (code, options) => kernel.execute(code, options),
    interrupt: () => kernel.interrupt(),
    kill: () => kernel.kill(),
    ...change(kernel),
  };
}

/** The same session with one member replaced; the others keep working on the original. */
function withMember<K extends keyof ProviderSession>(
  session: ProviderSession,
  name: K,
  member: ProviderSession[K],
): ProviderSession {
  return new Proxy(session, {
    get(target, key) {
      if (key === name) return member;
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
