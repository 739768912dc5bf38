import {
  type CreateOptions,
  createSandbox,
  type Sandbox,
  SandboxError,
  type SandboxInfo,
  unlessAborted,
} from "@sandkit/core";
import type { Config } from "./config.js";
import { EndedSandboxes } from "./ended-sandboxes.js";
import { HeldSandbox } from "./held-sandbox.js";
import type { Observer } from "./observability/observer.js";
import { type Principal, sealHandle } from "./principal.js";
import type { ProviderSource } from "./provider.js";
import { report } from "./report.js";
import { markInstalled } from "./runs/install-missing.js";

/** What a call that used a sandbox gives back. */
export interface Used<Result> {
  readonly result: Result;
  readonly handle: string;
  /** True when the caller cannot know the sandbox yet: the answer tells its handle. */
  readonly introduce: boolean;
}

/** How a sandbox is made for one call. */
export interface Making {
  readonly template?: string | undefined;
  /** Beside those of the config. */
  readonly packages?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
  /** Told what the model must know before the answer: that earlier state is lost. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/** What is done in a sandbox; its handle is what the model calls it. */
type Action<Result> = (sandbox: Sandbox, handle: string) => Promise<Result>;

export interface SandboxesOptions {
  readonly config: Config;
  readonly provider: ProviderSource;
  readonly principal: Principal;
  readonly observer: Observer;
  /** What a call without a handle gets: the one default sandbox (stdio) or a fresh one (HTTP). */
  readonly implicit: "default" | "fresh";
  /** Unused for this long a sandbox ends, in milliseconds; undefined: never. */
  readonly idleMs: number | undefined;
}

/** The sandboxes of one principal: found by handle, ended when idle, counted against the cap. */
export class Sandboxes {
  readonly #options: SandboxesOptions;
  readonly #held = new Map<string, HeldSandbox>();
  readonly #ended = new EndedSandboxes();
  readonly #closing = new AbortController();
  readonly #creating = new Set<Promise<HeldSandbox>>();
  #default: Promise<HeldSandbox> | undefined;

  constructor(options: SandboxesOptions) {
    this.#options = options;
  }

  /**
   * Runs `action` in the sandbox with this handle, or in the implicit one.
   * @throws SandboxError `NOT_FOUND` for a handle that was never given out, `EXPIRED` for one whose sandbox is gone,
   *   `QUOTA` at the cap, and whatever `action` throws
   */
  async use<Result>(handle: string | undefined, making: Making, action: Action<Result>): Promise<Used<Result>> {
    if (handle !== undefined) return await this.#useHeld(await this.#find(handle), making, action);
    if (this.#options.implicit === "fresh") return await this.#useFresh(making, action);
    try {
      return await this.#useHeld(await this.#findDefault(making), making, action);
    } catch (error) {
      if (!(error instanceof SandboxError) || error.code !== "EXPIRED") throw error;
      // `EXPIRED` is thrown before anything starts: nothing runs twice.
      return await this.#useHeld(await this.#findDefault(making), making, action);
    }
  }

  /** How many live, as far as is known. */
  get size(): number {
    return this.#held.size;
  }

  /** What the living ones are called. */
  handles(): string[] {
    return [...this.#held.keys()];
  }

  /** A sandbox of its own, to be named by its handle in later calls. */
  async create(making: Making): Promise<HeldSandbox> {
    return await this.#create("named", making);
  }

  /** The living ones, asked of the backend; those found gone are dropped. */
  async list(): Promise<{ held: HeldSandbox; info: SandboxInfo }[]> {
    const asked = [...this.#held.values()].map(async (held) => {
      const info = await held.info();
      if (info === undefined) await this.#end(held, "it ended by itself");
      return info === undefined ? [] : [{ held, info }];
    });
    return (await Promise.all(asked)).flat();
  }

  /** @throws SandboxError `NOT_FOUND` for a handle that was never given out. False when it was gone already. */
  async destroy(handle: string): Promise<boolean> {
    const held = this.#held.get(handle);
    if (held === undefined) {
      this.#ended.refuseUnknown(this.#options.principal, handle);
      return false;
    }
    this.#forget(held, "it was destroyed");
    try {
      await held.sandbox.destroy();
    } catch (error) {
      // It may still exist, and then it must be possible to try again.
      this.#held.set(handle, held);
      throw error;
    }
    return true;
  }

  /** Ends everything; creations under way are aborted and what they made is ended too. */
  async close(): Promise<void> {
    this.#closing.abort(new SandboxError("UNAVAILABLE", "the server is shutting down", { retryable: false }));
    await Promise.allSettled(this.#creating);
    await Promise.all([...this.#held.values()].map((held) => this.#end(held, "the server was shut down")));
  }

  async #useHeld<Result>(held: HeldSandbox, making: Making, action: Action<Result>): Promise<Used<Result>> {
    // Told once: by the first call that runs in the next default sandbox.
    const notice = held.origin === "default" ? this.#ended.takeNotice() : undefined;
    if (notice !== undefined) making.onNotice?.(notice);
    try {
      return {
        result: await held.hold((sandbox) => action(sandbox, held.handle)),
        handle: held.handle,
        introduce: false,
      };
    } catch (error) {
      const code = error instanceof SandboxError ? error.code : undefined;
      if (code === "EXPIRED" || code === "NOT_FOUND") await this.#end(held, "its lifetime was over");
      if (code === "SANDBOX_LOST") await this.#end(held, "it was lost");
      throw error;
    }
  }

  /** A sandbox whose handle the caller does not learn, because the call fails or is cancelled, ends at once. */
  async #useFresh<Result>(making: Making, action: Action<Result>): Promise<Used<Result>> {
    const held = await this.#create("fresh", making);
    try {
      const used = await this.#useHeld(held, making, action);
      making.signal?.throwIfAborted();
      return { ...used, introduce: true };
    } catch (error) {
      await this.#end(held, "the call that it was made for failed");
      throw error;
    }
  }

  async #find(handle: string): Promise<HeldSandbox> {
    const held = this.#held.get(handle);
    if (held !== undefined && (await this.#checkAlive(held))) return held;
    this.#ended.refuseUnknown(this.#options.principal, handle);
    const other = this.#options.implicit === "default" ? "leave sandbox_id out to use the default sandbox, or " : "";
    throw new SandboxError(
      "EXPIRED",
      `sandbox ${handle} is gone (${this.#ended.reason(handle)}), with its files and variables: ${other}make one with create_sandbox and set it up again`,
    );
  }

  async #findDefault(making: Making): Promise<HeldSandbox> {
    if (this.#default !== undefined) await this.#checkAlive(await unlessAborted(this.#default, making.signal));
    this.#default ??= this.#createDefault(making);
    return await unlessAborted(this.#default, making.signal);
  }

  /** Shared by callers: one that gives up does not take it from the others. */
  #createDefault({ onProgress, packages }: Making): Promise<HeldSandbox> {
    const creation = this.#create("default", { onProgress, packages });
    creation.catch(() => {
      this.#default = undefined;
    });
    return creation;
  }

  async #checkAlive(held: HeldSandbox): Promise<boolean> {
    const alive = await held.isAlive();
    if (!alive) await this.#end(held, "it ended by itself");
    return alive;
  }

  async #create(origin: HeldSandbox["origin"], making: Making): Promise<HeldSandbox> {
    // Up to its first await it runs at once: what it counts and what is counted next cannot overlap.
    const creation = this.#make(origin, making);
    this.#creating.add(creation);
    try {
      return await creation;
    } finally {
      this.#creating.delete(creation);
    }
  }

  async #make(origin: HeldSandbox["origin"], making: Making): Promise<HeldSandbox> {
    await this.#makeRoom();
    const { config, provider, principal, observer, idleMs } = this.#options;
    const signals = making.signal === undefined ? [] : [making.signal];
    const packages = [...new Set([...(config.defaults.packages ?? []), ...(making.packages ?? [])])];
    const options: CreateOptions = {
      ...config.defaults,
      ...(packages.length === 0 ? {} : { packages }),
      ...(making.template === undefined ? {} : { template: making.template }),
      signal: AbortSignal.any([this.#closing.signal, ...signals]),
      onProgress: making.onProgress,
    };
    const sandbox = await observer.makeSandbox(config.provider, options.template, async () =>
      createSandbox(await provider.get(), options),
    );
    markInstalled(sandbox, packages);
    const held: HeldSandbox = new HeldSandbox({
      handle: sealHandle(principal, sandbox.ref.id),
      sandbox,
      origin,
      idleMs,
      onIdle: () => void this.#end(held, `it was not used for ${(idleMs ?? 0) / 1000} s`),
    });
    this.#held.set(held.handle, held);
    return held;
  }

  async #makeRoom(): Promise<void> {
    this.#closing.signal.throwIfAborted();
    const max = this.#options.config.maxSandboxes;
    if (this.#held.size + this.#creating.size < max) return;
    await this.list();
    // By now the creation that asks is counted itself.
    if (this.#held.size + this.#creating.size <= max) return;
    throw new SandboxError(
      "QUOTA",
      `all ${max} sandboxes of this server are in use (maxSandboxes): end one with destroy_sandbox, or pass the sandbox_id of a living one: ${[...this.#held.keys()].join(", ")}`,
    );
  }

  #forget(held: HeldSandbox, reason: string): boolean {
    held.stopClock();
    if (!this.#held.delete(held.handle)) return false;
    this.#ended.add(held, reason);
    if (held.origin === "default") this.#default = undefined;
    return true;
  }

  async #end(held: HeldSandbox, reason: string): Promise<void> {
    if (!this.#forget(held, reason)) return;
    try {
      await held.sandbox.destroy();
    } catch (error) {
      report(`sandbox ${held.sandbox.ref.id} may still exist: its end failed`, error);
    }
  }
}
