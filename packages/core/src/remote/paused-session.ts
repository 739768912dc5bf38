import type { Capabilities } from "../capabilities.js";
import { type ErrorCode, SandboxError } from "../errors.js";
import type { Contact } from "../network/contact.js";
import { Once } from "../once.js";
import type {
  KernelOptions,
  PortInfo,
  ProviderFiles,
  ProviderKernel,
  ProviderProcess,
  ProviderSession,
  SandboxInfo,
  SandboxRef,
  SnapshotInfo,
  SpawnOptions,
} from "../provider.js";
import { BoxChanges } from "./box-changes.js";

/** What is known of a paused box without waking it. */
export interface PausedBox {
  readonly ref: SandboxRef;
  readonly workdir: string;
  readonly capabilities: Capabilities;
  readonly native?: unknown;
  info(): Promise<Omit<SandboxInfo, "ref" | "shells" | "interpreters">>;
  destroy(): Promise<void>;
  /** Resumes it and connects to its agent. */
  wake(): Promise<ProviderSession>;
}

/**
 * A session of a box that was found paused: nobody pays for it because somebody looked. Until `resume`, all that needs
 * it running is `UNAVAILABLE`.
 */
export class PausedSession implements ProviderSession {
  readonly ref: SandboxRef;
  readonly files: ProviderFiles;
  readonly #box: PausedBox;
  /** Those that wait for it to be woken: nothing is contacted before. */
  readonly #listeners: ((contact: Contact) => void)[] = [];
  readonly #changes = new BoxChanges();
  #awake: ProviderSession | undefined;
  readonly #destruction = new Once<void>();

  constructor(box: PausedBox) {
    this.#box = box;
    this.ref = box.ref;
    this.files = filesOf((operation) => this.#need(operation).files, box.capabilities);
  }

  get workdir(): string {
    return (this.#awake ?? this.#box).workdir;
  }

  get capabilities(): Capabilities {
    return (this.#awake ?? this.#box).capabilities;
  }

  get native(): unknown {
    return (this.#awake ?? this.#box).native;
  }

  resume(): Promise<void> {
    return this.#change("resume", async () => {
      if (this.#awake) return this.#awake.resume?.();
      const woken = await this.#box.wake();
      // It was not waited for any longer.
      if (this.#destruction.begun) {
        await woken.destroy();
        throw this.#refusal("NOT_FOUND", "was destroyed: create a new one", "resume");
      }
      this.#awake = woken;
      for (const listener of this.#listeners.splice(0)) woken.onContact?.(listener);
    });
  }

  /** One that is being woken sleeps only after that; that it could not be woken, `resume` tells. */
  pause(): Promise<void> {
    return this.#change("pause", async () => this.#awake?.pause?.());
  }

  async spawn(command: readonly string[], options: SpawnOptions): Promise<ProviderProcess> {
    return this.#need("spawn").spawn(command, options);
  }

  async kernel(options: KernelOptions): Promise<ProviderKernel> {
    return this.#member("kernel")(options);
  }

  onContact(listener: (contact: Contact) => void): void {
    if (this.#awake) this.#awake.onContact?.(listener);
    else this.#listeners.push(listener);
  }

  async port(port: number, options?: { readonly waitMs?: number | undefined }): Promise<PortInfo> {
    return this.#member("port")(port, options);
  }

  async snapshot(name?: string): Promise<SnapshotInfo> {
    return this.#member("snapshot")(name);
  }

  async fork(count: number): Promise<ProviderSession[]> {
    return this.#member("fork")(count);
  }

  async extend(ttlMs: number): Promise<void> {
    return this.#member("extend")(ttlMs);
  }

  async info(): Promise<SandboxInfo> {
    if (this.#awake) return this.#awake.info();
    return { ...(await this.#box.info()), ref: this.ref, shells: [], interpreters: [] };
  }

  /** Waits for a resumption that is under way, but not for long: what that brings later is destroyed too. */
  destroy(): Promise<void> {
    return this.#destruction.run(() => this.#destroy());
  }

  async #destroy(): Promise<void> {
    await this.#changes.settle();
    await (this.#awake ?? this.#box).destroy();
  }

  #change<Result>(operation: string, work: () => Promise<Result>): Promise<Result> {
    const refused = () => this.#refusal("NOT_FOUND", "is being destroyed: create a new one", operation);
    return this.#changes.run(work, () => (this.#destruction.begun ? refused() : undefined));
  }

  #need(operation: string): ProviderSession {
    if (this.#awake) return this.#awake;
    if (this.#destruction.begun) throw this.#refusal("NOT_FOUND", "was destroyed: create a new one", operation);
    throw this.#refusal("UNAVAILABLE", "is paused: call resume() first", operation);
  }

  #member<Name extends "kernel" | "port" | "snapshot" | "fork" | "extend">(
    name: Name,
  ): NonNullable<ProviderSession[Name]> {
    const session = this.#need(name);
    const member = session[name];
    if (!member) throw this.#refusal("UNSUPPORTED", `has no ${name}`, name);
    return member.bind(session) as NonNullable<ProviderSession[Name]>;
  }

  #refusal(code: ErrorCode, what: string, operation: string): SandboxError {
    const { provider, id } = this.ref;
    return new SandboxError(code, `sandbox ${id} ${what}`, { provider, sandboxId: id, operation });
  }
}

function filesOf(files: (operation: string) => ProviderFiles, { features }: Capabilities): ProviderFiles {
  const watch: NonNullable<ProviderFiles["watch"]> = async function* (...args) {
    yield* files("files.watch").watch?.(...args) ?? [];
  };
  return {
    ...(features["files.watch"] && { watch }),
    read: async (...args) => files("files.read").read(...args),
    write: async (...args) => files("files.write").write(...args),
    list: async (...args) => files("files.list").list(...args),
    stat: async (...args) => files("files.stat").stat(...args),
    mkdir: async (...args) => files("files.mkdir").mkdir(...args),
    move: async (...args) => files("files.move").move(...args),
    remove: async (...args) => files("files.remove").remove(...args),
    symlink: async (...args) => files("files.symlink").symlink?.(...args),
  };
}
