import { type CreateOptions, createSandbox, type Sandbox, SandboxError } from "@sandkit/core";
import { HeldSandbox } from "./held-sandbox.js";
import { sealHandle } from "./principal.js";
import { markInstalled } from "./runs/install-missing.js";
import type { SandboxShelf } from "./sandbox-shelf.js";
import type { Listed, SandboxesOptions } from "./sandboxes.js";
import type { SharedSandboxes } from "./shared-sandboxes.js";
import { watchContacts } from "./watch-contacts.js";

/** How a sandbox is made for one call. */
export interface Making {
  readonly template?: string | undefined;
  /** Beside those of the config. */
  readonly packages?: readonly string[] | undefined;
  /** True for what needs an interpreter that keeps its variables. */
  readonly interpreter?: boolean | undefined;
  /** Handle of a snapshot to start from. */
  readonly snapshot?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
  /** Told what the model must know before the answer: that earlier state is lost. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

export interface SandboxMakerOptions extends SandboxesOptions {
  readonly shelf: SandboxShelf;
  readonly shared: SharedSandboxes;
  /** The living ones, asked of the backend; those found gone are dropped. */
  readonly list: () => Promise<Listed[]>;
}

/** Makes the sandboxes of one principal, up to the cap of the config. */
export class SandboxMaker {
  readonly #options: SandboxMakerOptions;
  readonly #creating = new Set<Promise<HeldSandbox>>();
  readonly #closing = new AbortController();

  constructor(options: SandboxMakerOptions) {
    this.#options = options;
  }

  /** Aborts once the server shuts down. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** True while one is being made. */
  get isBusy(): boolean {
    return this.#creating.size > 0;
  }

  /** @throws SandboxError `QUOTA` at the cap */
  async make(origin: HeldSandbox["origin"], making: Making): Promise<HeldSandbox> {
    // Up to its first await it runs at once: what it counts and what is counted next cannot overlap.
    const creation = this.#make(origin, making);
    this.#creating.add(creation);
    try {
      return await creation;
    } finally {
      this.#creating.delete(creation);
    }
  }

  /** Breaks off what is being made, and resolves once nothing is. */
  async close(): Promise<void> {
    this.#closing.abort(new SandboxError("UNAVAILABLE", "the server is shutting down", { retryable: false }));
    await Promise.allSettled(this.#creating);
  }

  async #make(origin: HeldSandbox["origin"], making: Making): Promise<HeldSandbox> {
    await this.#makeRoom();
    const { config, provider, principal, observer, idleMs, shelf, shared, onContact } = this.#options;
    const usual = making.snapshot === undefined ? (config.defaults.packages ?? []) : [];
    const packages = [...new Set([...usual, ...(making.packages ?? [])])];
    const options = this.#createOptions(making, packages);
    const sandbox = await observer.makeSandbox(config.provider, options.template, async () =>
      createSandbox(await provider.get(), options),
    );
    watchContacts(sandbox, onContact);
    await this.#keepToCap(sandbox);
    markInstalled(sandbox, packages);
    // Where others may use it, its idleness is the backend's to tell.
    const isKept = shared.isOn || (origin === "default" && config.idleSeconds === undefined);
    const held: HeldSandbox = new HeldSandbox({
      handle: sealHandle(principal, sandbox.ref.id),
      sandbox,
      origin,
      home: shared.isOn ? shared.replica : undefined,
      idleMs: isKept ? undefined : idleMs,
      onIdle: () => void shelf.end(held, `it was not used for ${idleMs / 1000} s`),
    });
    shelf.add(held);
    return held;
  }

  #createOptions(making: Making, packages: readonly string[]): CreateOptions {
    const { template, snapshot, signal, onProgress } = making;
    const { template: usual, packages: _, ...defaults } = this.#options.config.defaults;
    // What a snapshot was made in, and the packages that it has, are not asked for again.
    const image = template ?? (snapshot === undefined ? usual : undefined);
    return {
      ...defaults,
      ...(packages.length === 0 ? {} : { packages }),
      ...this.#options.shared.createOptions(),
      ...(image === undefined ? {} : { template: image }),
      ...(snapshot === undefined ? {} : { snapshot: this.#options.snapshots.idOf(snapshot) }),
      signal: AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]),
      onProgress,
    };
  }

  async #makeRoom(): Promise<void> {
    this.#closing.signal.throwIfAborted();
    const { config, shelf, shared, list } = this.#options;
    const max = config.maxSandboxes;
    if (shared.isOn) {
      if ((await shared.living()).length >= max) throw await this.#noRoom();
      return;
    }
    // Those that were granted are not the server's.
    const own = () => shelf.all().filter((held) => !held.isGranted).length;
    if (own() + this.#creating.size < max) return;
    await list();
    // By now the creation that asks is counted itself.
    if (own() + this.#creating.size > max) throw await this.#noRoom();
  }

  async #noRoom(): Promise<SandboxError> {
    const living = (await this.#options.list()).map(({ handle }) => handle).join(", ");
    return new SandboxError(
      "QUOTA",
      `all ${this.#options.config.maxSandboxes} sandboxes of this server are in use (maxSandboxes): end one with destroy_sandbox, or pass the sandbox_id of a living one: ${living}`,
    );
  }

  /** Several servers may have found room at once: the youngest beyond the cap go. */
  async #keepToCap(sandbox: Sandbox): Promise<void> {
    const { config, shared } = this.#options;
    if (!shared.isOn) return;
    try {
      const rank = (await shared.living()).findIndex(({ ref }) => ref.id === sandbox.ref.id);
      if (rank >= config.maxSandboxes) throw await this.#noRoom();
    } catch (error) {
      await sandbox.destroy();
      throw error;
    }
  }
}
