import type {
  CreateOptions,
  Provider,
  ProviderFiles,
  ProviderProcess,
  ProviderSession,
  SpawnOptions,
} from "@sandkit/core";

/** A provider with one seeded defect, of a kind that real providers have had. */
export interface Mutant {
  readonly id: string;
  readonly description: string;
  /** Ids of the conformance cases that are there to notice it. */
  readonly caughtBy: readonly string[];
  mutate(provider: Provider): Provider;
}

/** The same object with some members replaced; the others keep working on the original. */
export function overlay<T extends object>(original: T, changes: Partial<T>): T {
  return new Proxy(original, {
    get(target, key) {
      const value: unknown = Reflect.get(key in changes ? changes : target, key);
      return typeof value === "function" && !(key in changes) ? value.bind(target) : value;
    },
  });
}

/** Changes every session that the provider gives, created or attached. */
export function withSession(
  provider: Provider,
  change: (session: ProviderSession, options: CreateOptions | undefined) => Partial<ProviderSession>,
): Provider {
  return overlay(provider, {
    async create(options) {
      const session = await provider.create(options);
      return overlay(session, change(session, options));
    },
    async attach(ref, options) {
      const session = await provider.attach(ref, options);
      return session && overlay(session, change(session, undefined));
    },
  });
}

export type Spawn = (command: readonly string[], options: SpawnOptions) => Promise<ProviderProcess>;

/** Changes how programs are started. */
export function withSpawn(provider: Provider, change: (spawn: Spawn, session: ProviderSession) => Spawn): Provider {
  return withSession(provider, (session) => ({ spawn: change(session.spawn.bind(session), session) }));
}

/** Changes every process after its start. */
export function withProcess(
  provider: Provider,
  change: (process: ProviderProcess, session: ProviderSession) => Partial<ProviderProcess>,
): Provider {
  return withSpawn(provider, (spawn, session) => async (command, options) => {
    const process = await spawn(command, options);
    return overlay(process, change(process, session));
  });
}

/** Changes the files of every session. */
export function withFiles(
  provider: Provider,
  change: (files: ProviderFiles, session: ProviderSession) => Partial<ProviderFiles>,
): Provider {
  return withSession(provider, (session) => ({ files: overlay(session.files, change(session.files, session)) }));
}

/** Changes the bytes of both streams of every process. */
export function withOutput(
  provider: Provider,
  change: (output: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>,
): Provider {
  return withProcess(provider, ({ stdout, stderr }) => ({ stdout: change(stdout), stderr: change(stderr) }));
}

/** Changes pieces of a stream one by one; `null` drops a piece. */
export function mapPieces(
  stream: ReadableStream<Uint8Array>,
  change: (piece: Uint8Array) => Uint8Array | null,
): ReadableStream<Uint8Array> {
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        const changed = change(piece);
        if (changed?.length) controller.enqueue(changed);
      },
    }),
  );
}

/** Everything that a stream gives, as one piece. */
export async function collect(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
