import { randomUUID } from "node:crypto";
import { SandboxError } from "./errors.js";
import { guardSession, type Tenancy } from "./guarded-session.js";
import type { CreateOptions } from "./options.js";
import type { ListOptions, ProviderSession, SandboxInfo, SandboxRef } from "./provider.js";

/** Makes the session itself, for the registry to keep. */
export type SessionFactory = (sandbox: { readonly id: string }) => Promise<ProviderSession>;

/** How many sandboxes may live at one time, and the option that says so. */
export interface SandboxQuota {
  readonly most: number;
  readonly option: string;
}

interface Entry {
  readonly id: string;
  readonly name: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** The options that must be the same for a second `create` of this name. */
  readonly fingerprint: string;
  readonly session: Promise<ProviderSession>;
  readonly tenancy: Tenancy;
}

/**
 * The sandboxes of a provider that keeps them in this process: names with conflicts, attach, list by labels, and ends
 * by `ttlMs` and `idleMs`. A command or cell that runs is use; it is never ended for idleness.
 */
export class SessionRegistry {
  readonly #provider: string;
  readonly #quota: SandboxQuota | undefined;
  readonly #entries = new Map<string, Entry>();

  /** @param provider Name of the provider, for refs and errors. */
  constructor(provider: string, quota?: SandboxQuota) {
    this.#provider = provider;
    this.#quota = quota;
  }

  /** Makes a session, or gives the living one of `options.name`. @throws SandboxError `CONFLICT`, `QUOTA` */
  async create(options: CreateOptions, make: SessionFactory): Promise<ProviderSession> {
    const fingerprint = fingerprintOf(options);
    for (;;) {
      // Looked up and registered in one step of the event loop, so that two creates of one name cannot both miss.
      const known = options.name === undefined ? undefined : this.#named(options.name);
      if (!known) {
        await this.#dropDead();
        if (options.name !== undefined && this.#named(options.name)) continue;
        this.#checkQuota();
        return this.#start(options, fingerprint, make);
      }
      if (!(await this.#lives(known))) continue;
      if (known.fingerprint === fingerprint) return this.#guard(known, "attached");
      throw new SandboxError(
        "CONFLICT",
        `sandbox "${options.name}" lives with other options: destroy it, or create with the same options or another name`,
        { provider: this.#provider, operation: "create", sandboxId: known.id },
      );
    }
  }

  /** The living session of a ref, or null. */
  async attach(ref: SandboxRef): Promise<ProviderSession | null> {
    const entry = this.#entries.get(ref.id);
    return entry && (await this.#lives(entry)) ? this.#guard(entry, "attached") : null;
  }

  /** The living sandboxes with all the given labels. */
  async *list(options: ListOptions = {}): AsyncGenerator<SandboxInfo> {
    const wanted = Object.entries(options.labels ?? {});
    for (const entry of [...this.#entries.values()]) {
      if (!wanted.every(([key, value]) => entry.labels[key] === value)) continue;
      // One whose creation fails meanwhile is the business of its creator alone.
      if (!(await this.#lives(entry))) continue;
      const info = await (await this.#guard(entry, "attached")).info();
      if (info.state !== "gone") yield info;
    }
  }

  #named(name: string): Entry | undefined {
    return [...this.#entries.values()].find((entry) => entry.name === name && !entry.tenancy.ended);
  }

  /** The quota, where it is used up. */
  get #reached(): SandboxQuota | undefined {
    return this.#quota && this.#entries.size >= this.#quota.most ? this.#quota : undefined;
  }

  /** Those that have died by themselves do not count. */
  async #dropDead(): Promise<void> {
    if (!this.#reached) return;
    await Promise.all([...this.#entries.values()].map((entry) => this.#lives(entry)));
  }

  #checkQuota(): void {
    const reached = this.#reached;
    if (!reached) return;
    const { most, option } = reached;
    throw new SandboxError(
      "QUOTA",
      `${most} sandboxes live already: destroy one, or raise the option "${option}" of ${this.#provider}()`,
      { provider: this.#provider, operation: "create" },
    );
  }

  /** Forgets a session whose backend has died by itself. */
  async #lives(entry: Entry): Promise<boolean> {
    await entry.tenancy.destroying?.catch(() => undefined);
    if (!this.#entries.has(entry.id)) return false;
    const session = await entry.session.catch(() => undefined);
    if (session && (await session.info()).state !== "gone") return true;
    this.#entries.delete(entry.id);
    return false;
  }

  async #start(options: CreateOptions, fingerprint: string, make: SessionFactory): Promise<ProviderSession> {
    const id = randomUUID();
    const entry: Entry = {
      id,
      name: options.name,
      labels: options.labels ?? {},
      fingerprint,
      session: make({ id }),
      tenancy: { provider: this.#provider, id, createdAt: new Date(), lifetime: options.lifetime ?? {}, busy: 0 },
    };
    this.#entries.set(id, entry);
    try {
      await entry.session;
    } catch (error) {
      this.#entries.delete(id);
      throw error;
    }
    const session = await this.#guard(entry, "created");
    session.startClock();
    return session;
  }

  async #guard(entry: Entry, origin: SandboxInfo["origin"]) {
    const session = await entry.session;
    return guardSession(session, entry.tenancy, { origin, name: entry.name, labels: entry.labels }, () =>
      this.#entries.delete(entry.id),
    );
  }
}

/** Two creates of one name agree when these do; callbacks, signals and file content are not part of it. */
export function fingerprintOf(options: CreateOptions): string {
  const { signal, onProgress, approve, files, createTimeoutMs, name, ...lasting } = options;
  return JSON.stringify({ ...lasting, files: Object.keys(files ?? {}).sort() }, (_, value) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
