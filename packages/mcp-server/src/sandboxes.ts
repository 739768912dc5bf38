import { type Sandbox, SandboxError, type SandboxInfo, unlessAborted } from "@sandkit/core";
import { checkInterpreters } from "./check-interpreters.js";
import type { Config } from "./config.js";
import { EndedSandboxes } from "./ended-sandboxes.js";
import { HeldSandbox } from "./held-sandbox.js";
import type { Observer } from "./observability/observer.js";
import { type Principal, sealHandle } from "./principal.js";
import type { ProviderSource } from "./provider.js";
import { report } from "./report.js";
import { type Making, SandboxMaker } from "./sandbox-maker.js";
import { SandboxShelf } from "./sandbox-shelf.js";
import { SharedSandboxes } from "./shared-sandboxes.js";
import type { Snapshots } from "./snapshots.js";
import { type ContactWatcher, watchContacts } from "./watch-contacts.js";

/** What a call that used a sandbox gives back. */
export interface Used<Result> {
  readonly result: Result;
  readonly handle: string;
  /** True when the caller cannot know the sandbox yet: the answer tells its handle. */
  readonly introduce: boolean;
}

/** What is done in a sandbox; its handle is what the model calls it. */
type Action<Result> = (sandbox: Sandbox, handle: string) => Promise<Result>;

export interface SandboxesOptions {
  readonly config: Config;
  readonly provider: ProviderSource;
  readonly principal: Principal;
  /** What sandboxes can be made from. */
  readonly snapshots: Snapshots;
  readonly observer: Observer;
  /** What a call without a handle gets: the one default sandbox (stdio) or a fresh one (HTTP). */
  readonly implicit: "default" | "fresh";
  /** The name of this server among those that share its sandboxes. */
  readonly replica: string;
  /** Unused for this long a sandbox ends, in milliseconds; the default one only where the config says so. */
  readonly idleMs: number;
  readonly onContact?: ContactWatcher | undefined;
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
  readonly #ended: EndedSandboxes;
  readonly #shelf: SandboxShelf;
  readonly #shared: SharedSandboxes;
  readonly #maker: SandboxMaker;
  /** Of sandboxes that are being found again: two calls find one. */
  readonly #joining = new Map<string, Promise<HeldSandbox | undefined>>();
  #default: Promise<HeldSandbox> | undefined;

  constructor(options: SandboxesOptions) {
    this.#options = options;
    this.#ended = new EndedSandboxes(options);
    const { config, implicit, idleMs } = options;
    const isKept = implicit === "default" && config.idleSeconds === undefined;
    const shared = new SharedSandboxes({ ...options, idleMs: isKept ? undefined : idleMs });
    const shelf = new SandboxShelf(this.#ended, ({ origin }) => {
      if (origin === "default") this.#default = undefined;
    });
    this.#shelf = shelf;
    this.#shared = shared;
    this.#maker = new SandboxMaker({ ...options, shelf, shared, list: () => this.list() });
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
    return this.#shelf.size;
  }

  /**
   * True when nothing lives here or is being made. What is shared and was not used for so long that its backend has
   * ended it counts as gone.
   */
  get isUnused(): boolean {
    const isGone = (held: HeldSandbox) => this.#shared.isOn && held.unusedMs > this.#options.idleMs;
    return !this.#maker.isBusy && this.#shelf.all().every(isGone);
  }

  /** Those that are held here. To look at one so is no use of it. */
  held(): readonly HeldSandbox[] {
    return this.#shelf.all();
  }

  /** A sandbox of its own, to be named by its handle in later calls. */
  async create(making: Making): Promise<HeldSandbox> {
    return await this.#maker.make("named", making);
  }

  /** The living ones, asked of the backend; those found gone are dropped. */
  async list(): Promise<Listed[]> {
    const { principal } = this.#options;
    // The backend is asked about all at once where it knows them: a look at each would count as use.
    const own = this.#shared.isOn ? await this.#shared.living() : [];
    const known = new Map(own.map((info) => [sealHandle(principal, info.ref.id), info]));
    const asked = this.#shelf.all().map(async (held) => {
      const info = known.get(held.handle) ?? (await held.info());
      known.delete(held.handle);
      if (info === undefined) await this.#shelf.end(held, this.#ended.guess(held));
      return info === undefined ? [] : [{ handle: held.handle, isDefault: held.origin === "default", info }];
    });
    const here = (await Promise.all(asked)).flat();
    return [...here, ...[...known].map(([handle, info]) => ({ handle, isDefault: false, info }))];
  }

  /** @throws SandboxError `NOT_FOUND` for a handle that was never given out. False when it was gone already. */
  async destroy(handle: string): Promise<boolean> {
    // One that is held is not asked first: it may be frozen.
    const held = this.#shelf.get(handle) ?? (await this.#living(handle));
    if (held === undefined) return false;
    this.#shelf.forget(held, "it was destroyed");
    try {
      await held.sandbox.destroy();
    } catch (error) {
      // It may still exist, and then it must be possible to try again.
      this.#shelf.add(held);
      throw error;
    }
    return true;
  }

  /** Ends everything; creations under way are aborted and what they made is ended too. */
  async close(): Promise<void> {
    await this.#maker.close();
    const held = this.#shelf.all();
    // What others may use, or go on with, is theirs.
    const own = held.filter((each) => !this.#shared.isOn && !each.joined);
    for (const each of held) each.stopClock();
    await Promise.all(own.map((each) => this.#shelf.end(each, "the server was shut down")));
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
      if (code === "EXPIRED" || code === "NOT_FOUND") await this.#shelf.end(held, this.#ended.guess(held));
      if (code === "SANDBOX_LOST") await this.#lose(held);
      throw error;
    }
  }

  /** A sandbox whose handle the caller does not learn, because the call fails or is cancelled, ends at once. */
  async #useFresh<Result>(making: Making, action: Action<Result>): Promise<Used<Result>> {
    const held = await this.#maker.make("fresh", making);
    try {
      const used = await this.#useHeld(held, making, action);
      making.signal?.throwIfAborted();
      return { ...used, introduce: true };
    } catch (error) {
      await this.#shelf.end(held, "the call that it was made for failed");
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
    const held = this.#shelf.get(handle);
    if (held !== undefined) return (await this.#shelf.checkAlive(held)) ? held : undefined;
    const id = this.#ended.idOf(handle);
    if (this.#ended.reason(handle) !== undefined) return undefined;
    const joining = this.#joining.get(handle) ?? this.#join(handle, id);
    this.#joining.set(handle, joining);
    return await unlessAborted(joining, signal);
  }

  /** For all who ask meanwhile: one that gives up does not take it from the others. */
  async #join(handle: string, id: string, origin: HeldSandbox["origin"] = "named"): Promise<HeldSandbox | undefined> {
    try {
      const joined = await this.#shared.join(id, this.#maker.closing);
      if (joined === undefined) return undefined;
      const { sandbox, home } = joined;
      watchContacts(sandbox, this.#options.onContact);
      const held = new HeldSandbox({ handle, sandbox, origin, home, joined: true, idleMs: undefined });
      this.#shelf.add(held);
      return held;
    } finally {
      this.#joining.delete(handle);
    }
  }

  async #findDefault(making: Making): Promise<HeldSandbox> {
    if (this.#default !== undefined) {
      const held = await unlessAborted(this.#default, making.signal);
      if (await this.#shelf.checkAlive(held)) return held;
    }
    this.#default ??= this.#createDefault(making);
    return await unlessAborted(this.#default, making.signal);
  }

  /** Shared by callers: one that gives up does not take it from the others. */
  #createDefault({ onProgress, packages }: Making): Promise<HeldSandbox> {
    const creation = this.#maker.make("default", { onProgress, packages });
    creation.catch(() => {
      this.#default = undefined;
    });
    return creation;
  }

  /** What others can reach too may only have lost its way to here, and is found again. */
  async #lose(held: HeldSandbox): Promise<void> {
    if (!this.#shared.isOn && !held.joined) {
      await this.#shelf.end(held, "its host or engine ended it");
      return;
    }
    this.#shelf.drop(held);
    try {
      const again = await this.#join(held.handle, held.sandbox.ref.id, held.origin);
      if (again === undefined) this.#ended.add(held, "its host, or another program, ended it");
      else if (held.origin === "default") this.#default ??= Promise.resolve(again);
    } catch (error) {
      // Out of reach is not gone: the next call with its handle looks again.
      report(`sandbox ${held.sandbox.ref.id} cannot be reached`, error);
    }
  }
}
