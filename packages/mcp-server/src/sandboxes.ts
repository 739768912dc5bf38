import {
  type Contact,
  type CreateOptions,
  createSandbox,
  type Sandbox,
  SandboxError,
  type SandboxInfo,
  unlessAborted,
} from "@sandkit/core";
import { checkInterpreters } from "./check-interpreters.js";
import type { Config } from "./config.js";
import { EndedSandboxes } from "./ended-sandboxes.js";
import { HeldSandbox } from "./held-sandbox.js";
import type { Observer } from "./observability/observer.js";
import { type Principal, sealHandle } from "./principal.js";
import type { ProviderSource } from "./provider.js";
import { report } from "./report.js";
import { markInstalled } from "./runs/install-missing.js";
import { SharedSandboxes } from "./shared-sandboxes.js";

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
  /** True for what needs an interpreter that keeps its variables. */
  readonly interpreter?: boolean | undefined;
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
  /** The name of this server among those that share its sandboxes. */
  readonly replica: string;
  /** Unused for this long a sandbox ends, in milliseconds; the default one only where the config says so. */
  readonly idleMs: number;
  /** Told of what each sandbox contacts, by its backend's id. */
  readonly onContact?: ((sandbox: string, contact: Contact) => void) | undefined;
}

/** A living sandbox, as lists show it. */
export interface Listed {
  readonly handle: string;
  readonly isDefault: boolean;
  readonly info: SandboxInfo;
}

/** The sandboxes of one principal: found by handle, ended when idle, counted against the cap. */
export class Sandboxes {
  readonly #options: SandboxesOptions;
  readonly #held = new Map<string, HeldSandbox>();
  readonly #ended: EndedSandboxes;
  readonly #closing = new AbortController();
  readonly #creating = new Set<Promise<HeldSandbox>>();
  readonly #shared: SharedSandboxes;
  /** Of sandboxes that are being found again: two calls find one. */
  readonly #joining = new Map<string, Promise<HeldSandbox | undefined>>();
  #default: Promise<HeldSandbox> | undefined;

  constructor(options: SandboxesOptions) {
    this.#options = options;
    this.#ended = new EndedSandboxes(options);
    const { config, implicit, idleMs } = options;
    const isKept = implicit === "default" && config.idleSeconds === undefined;
    this.#shared = new SharedSandboxes({ ...options, idleMs: isKept ? undefined : idleMs });
  }

  /**
   * Runs `action` in the sandbox with this handle, or in the implicit one.
   * @throws SandboxError `NOT_FOUND` for a handle that was never given out, `EXPIRED` for one whose sandbox is gone,
   *   `QUOTA` at the cap, and whatever `action` throws
   */
  async use<Result>(handle: string | undefined, making: Making, action: Action<Result>): Promise<Used<Result>> {
    if (handle !== undefined) return await this.#useHeld(await this.#find(handle, making.signal), making, action);
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
  async list(): Promise<Listed[]> {
    const { principal } = this.#options;
    // The backend is asked about all at once where it knows them: a look at each would count as use.
    const own = this.#shared.isOn ? await this.#shared.living() : [];
    const known = new Map(own.map((info) => [sealHandle(principal, info.ref.id), info]));
    const asked = [...this.#held.values()].map(async (held) => {
      const info = known.get(held.handle) ?? (await held.info());
      known.delete(held.handle);
      if (info === undefined) await this.#end(held, this.#ended.guess(held));
      return info === undefined ? [] : [{ handle: held.handle, isDefault: held.origin === "default", info }];
    });
    const here = (await Promise.all(asked)).flat();
    return [...here, ...[...known].map(([handle, info]) => ({ handle, isDefault: false, info }))];
  }

  /** @throws SandboxError `NOT_FOUND` for a handle that was never given out. False when it was gone already. */
  async destroy(handle: string): Promise<boolean> {
    // One that is held is not asked first: it may be frozen.
    const held = this.#held.get(handle) ?? (await this.#living(handle));
    if (held === undefined) return false;
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
    const held = [...this.#held.values()];
    // What others may use, or go on with, is theirs.
    const own = held.filter((each) => !this.#shared.isOn && !each.joined);
    for (const each of held) each.stopClock();
    await Promise.all(own.map((each) => this.#end(each, "the server was shut down")));
  }

  async #useHeld<Result>(held: HeldSandbox, making: Making, action: Action<Result>): Promise<Used<Result>> {
    // Told once: by the first call that runs in the next default sandbox.
    const notice = held.origin === "default" ? this.#ended.takeNotice() : undefined;
    if (notice !== undefined) making.onNotice?.(notice);
    if (making.interpreter) checkInterpreters(held, this.#shared.replica, making.onNotice);
    try {
      return {
        result: await held.hold((sandbox) => action(sandbox, held.handle)),
        handle: held.handle,
        introduce: false,
      };
    } catch (error) {
      const code = error instanceof SandboxError ? error.code : undefined;
      if (code === "EXPIRED" || code === "NOT_FOUND") await this.#end(held, this.#ended.guess(held));
      if (code === "SANDBOX_LOST") await this.#lose(held);
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

  async #find(handle: string, signal: AbortSignal | undefined): Promise<HeldSandbox> {
    const held = await this.#living(handle, signal);
    if (held !== undefined) return held;
    throw this.#ended.expired(handle);
  }

  /** The sandbox of a handle, here or where its backend has it; undefined when it is gone. */
  async #living(handle: string, signal?: AbortSignal): Promise<HeldSandbox | undefined> {
    const held = this.#held.get(handle);
    if (held !== undefined) return (await this.#checkAlive(held)) ? held : undefined;
    const id = this.#ended.idOf(handle);
    if (this.#ended.reason(handle) !== undefined) return undefined;
    const joining = this.#joining.get(handle) ?? this.#join(handle, id);
    this.#joining.set(handle, joining);
    return await unlessAborted(joining, signal);
  }

  /** For all who ask meanwhile: one that gives up does not take it from the others. */
  async #join(handle: string, id: string, origin: HeldSandbox["origin"] = "named"): Promise<HeldSandbox | undefined> {
    try {
      const joined = await this.#shared.join(id, this.#closing.signal);
      if (joined === undefined) return undefined;
      const { sandbox, home } = joined;
      this.#watch(sandbox);
      const held = new HeldSandbox({ handle, sandbox, origin, home, joined: true, idleMs: undefined });
      this.#held.set(handle, held);
      return held;
    } finally {
      this.#joining.delete(handle);
    }
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
    if (!alive) await this.#end(held, this.#ended.guess(held));
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
      ...this.#shared.createOptions(),
      ...(making.template === undefined ? {} : { template: making.template }),
      signal: AbortSignal.any([this.#closing.signal, ...signals]),
      onProgress: making.onProgress,
    };
    const sandbox = await observer.makeSandbox(config.provider, options.template, async () =>
      createSandbox(await provider.get(), options),
    );
    this.#watch(sandbox);
    await this.#keepToCap(sandbox);
    markInstalled(sandbox, packages);
    // Where others may use it, its idleness is the backend's to tell.
    const isKept = this.#shared.isOn || (origin === "default" && config.idleSeconds === undefined);
    const held: HeldSandbox = new HeldSandbox({
      handle: sealHandle(principal, sandbox.ref.id),
      sandbox,
      origin,
      home: this.#shared.isOn ? this.#shared.replica : undefined,
      idleMs: isKept ? undefined : idleMs,
      onIdle: () => void this.#end(held, `it was not used for ${idleMs / 1000} s`),
    });
    this.#held.set(held.handle, held);
    return held;
  }

  /** Where its backend reports contacts. */
  #watch(sandbox: Sandbox): void {
    const { onContact } = this.#options;
    if (onContact === undefined || !sandbox.capabilities.features["network.contacts"]) return;
    sandbox.onContact((contact) => onContact(sandbox.ref.id, contact));
  }

  async #makeRoom(): Promise<void> {
    this.#closing.signal.throwIfAborted();
    const max = this.#options.config.maxSandboxes;
    // Those that were granted are not the server's.
    const own = () => [...this.#held.values()].filter((held) => !held.isGranted).length;
    if (this.#shared.isOn) {
      if ((await this.#shared.living()).length >= max) throw await this.#noRoom();
      return;
    }
    if (own() + this.#creating.size < max) return;
    await this.list();
    // By now the creation that asks is counted itself.
    if (own() + this.#creating.size > max) throw await this.#noRoom();
  }

  async #noRoom(): Promise<SandboxError> {
    const living = (await this.list()).map(({ handle }) => handle).join(", ");
    return new SandboxError(
      "QUOTA",
      `all ${this.#options.config.maxSandboxes} sandboxes of this server are in use (maxSandboxes): end one with destroy_sandbox, or pass the sandbox_id of a living one: ${living}`,
    );
  }

  /** Several servers may have found room at once: the youngest beyond the cap go. */
  async #keepToCap(sandbox: Sandbox): Promise<void> {
    if (!this.#shared.isOn) return;
    try {
      const rank = (await this.#shared.living()).findIndex(({ ref }) => ref.id === sandbox.ref.id);
      if (rank >= this.#options.config.maxSandboxes) throw await this.#noRoom();
    } catch (error) {
      await sandbox.destroy();
      throw error;
    }
  }

  #forget(held: HeldSandbox, reason: string): boolean {
    held.stopClock();
    if (!this.#held.delete(held.handle)) return false;
    this.#ended.add(held, reason);
    if (held.origin === "default") this.#default = undefined;
    return true;
  }

  /** What others can reach too may only have lost its way to here, and is found again. */
  async #lose(held: HeldSandbox): Promise<void> {
    if (!this.#shared.isOn && !held.joined) {
      await this.#end(held, "its host or engine ended it");
      return;
    }
    held.stopClock();
    this.#held.delete(held.handle);
    if (held.origin === "default") this.#default = undefined;
    try {
      const again = await this.#join(held.handle, held.sandbox.ref.id, held.origin);
      if (again === undefined) this.#ended.add(held, "its host, or another program, ended it");
      else if (held.origin === "default") this.#default ??= Promise.resolve(again);
    } catch (error) {
      // Out of reach is not gone: the next call with its handle looks again.
      report(`sandbox ${held.sandbox.ref.id} cannot be reached`, error);
    }
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
