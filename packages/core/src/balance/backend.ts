import { SandboxError } from "../errors.js";
import type { CreateOptions } from "../options.js";
import type { AttachOptions, Provider, ProviderSession, SandboxInfo, SandboxRef, SnapshotInfo } from "../provider.js";
import { requireWhatIsAsked } from "../require-options.js";
import { Health } from "./backend-health.js";
import type { BalanceOptions } from "./balance-options.js";
import { innerId, outerId, outerRef } from "./balanced-ref.js";
import { balancedSession } from "./balanced-session.js";
import { HeldSessions } from "./held-sessions.js";

const defaultFailures = 3;
const defaultRecheckMs = 15_000;

/** One of the providers, with what is known of it. */
export class Backend {
  readonly key: string;
  readonly provider: Provider;
  readonly health: Health;
  readonly #name: string;
  readonly #held = new HeldSessions();

  /** @param name Of the whole. */
  constructor(name: string, key: string, provider: Provider, options: BalanceOptions) {
    this.key = key;
    this.provider = provider;
    this.#name = name;
    this.health = new Health({
      failures: options.failures ?? defaultFailures,
      recheckMs: options.recheckMs ?? defaultRecheckMs,
      check: () => provider.check(),
      onChange: (health) => {
        try {
          options.onHealth?.({ backend: key, ...health });
        } catch (error) {
          // What its listener does wrong is no fault of the call that it hears of.
          process.emitWarning(error instanceof Error ? error : String(error));
        }
      },
    });
  }

  /** Sandboxes made here through this object, and those that are being made. */
  get sessions(): number {
    return this.#held.count;
  }

  /** Why it cannot do what is asked; undefined when it can. */
  refusal(options: CreateOptions): SandboxError | undefined {
    try {
      const own = this.#own(options);
      requireWhatIsAsked(this.provider, own);
      this.provider.validate(own);
      return undefined;
    } catch (error) {
      if (error instanceof SandboxError) return error;
      throw error;
    }
  }

  /** Whether a sandbox of this name was made here through this object, and lives. */
  holds(name: string): Promise<boolean> {
    return this.#held.holds(name);
  }

  /** Whether a sandbox here has this name. */
  async hasNamed(name: string): Promise<boolean> {
    if (!this.provider.capabilities.features.list) return false;
    return this.health.watch(async () => {
      for await (const info of this.provider.list()) if (info.name === name) return true;
      return false;
    });
  }

  async create(options: CreateOptions): Promise<ProviderSession> {
    const own = this.#own(options);
    const session = await this.#held.hold(options.name, () => this.health.watch(() => this.provider.create(own)));
    return this.#wrap(session);
  }

  /** @param id Its own. */
  async attach(id: string, options?: AttachOptions): Promise<ProviderSession | null> {
    const ref = { provider: this.provider.name, id };
    const session = await this.health.watch(() => this.provider.attach(ref, options));
    return session && this.#wrap(session);
  }

  /** All of them: an iteration that waits for its consumer would say nothing of the backend. */
  async list(labels: Readonly<Record<string, string>> | undefined): Promise<SandboxInfo[]> {
    return this.health.watch(async () => {
      const found: SandboxInfo[] = [];
      for await (const info of this.provider.list({ labels })) found.push({ ...info, ref: this.outer(info.ref) });
      return found;
    });
  }

  async snapshots(): Promise<SnapshotInfo[]> {
    return this.health.watch(async () => {
      const found: SnapshotInfo[] = [];
      for await (const info of this.provider.snapshots?.() ?? [])
        found.push({ ...info, id: outerId(this.key, info.id) });
      return found;
    });
  }

  /** @param id Its own. */
  async removeSnapshot(id: string): Promise<boolean> {
    return this.health.watch(async () => (await this.provider.removeSnapshot?.(id)) ?? false);
  }

  outer(ref: SandboxRef): SandboxRef {
    return outerRef(this.#name, this.key, ref);
  }

  #wrap(session: ProviderSession): ProviderSession {
    return balancedSession(session, {
      name: this.#name,
      key: this.key,
      onDestroyed: (ended) => this.#held.forget(ended),
      adopt: (copy) => {
        this.#held.add(copy);
        return this.#wrap(copy);
      },
    });
  }

  /** What is asked, in the words of this backend. */
  #own(options: CreateOptions): CreateOptions {
    const { native, snapshot, onProgress, ...rest } = options;
    return {
      ...rest,
      ...(native !== undefined && { native: Reflect.get(Object(native), this.key) }),
      ...(snapshot !== undefined && { snapshot: this.#ownSnapshot(snapshot) }),
      ...(onProgress && { onProgress: (message: string) => onProgress(`${this.key}: ${message}`) }),
    };
  }

  #ownSnapshot(snapshot: string): string {
    const found = innerId(snapshot);
    if (found?.key === this.key) return found.id;
    const message = `snapshot "${snapshot}" is not of backend "${this.key}"`;
    throw new SandboxError("UNSUPPORTED", message, { provider: this.#name, operation: "create" });
  }
}
