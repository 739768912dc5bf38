import { type CreateOptions, createSandbox, type Sandbox, SandboxError, type SandboxInfo } from "@sandkit/core";
import type { Config } from "./config.js";
import { EndedSandboxes } from "./ended-sandboxes.js";
import { type Principal, sealHandle } from "./principal.js";
import type { ProviderSource } from "./provider.js";
import { report } from "./report.js";

/** One living sandbox of a principal. */
export interface Entry {
  /** What the model calls it: `sandbox_id`. */
  readonly handle: string;
  readonly sandbox: Sandbox;
  /** `default`: used by every call without an id. `fresh`: made for one such call. `named`: by create_sandbox. */
  readonly origin: "default" | "fresh" | "named";
}

/** What a call that used a sandbox gives back. */
export interface Used<Result> {
  readonly result: Result;
  readonly entry: Entry;
  /** True when the caller cannot know the sandbox yet: the answer tells its id. */
  readonly introduce: boolean;
  /** Said before anything else: earlier state is lost. */
  readonly notice?: string | undefined;
}

/** How a sandbox is made for one call. */
export interface Making {
  readonly template?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
}

export interface SandboxesOptions {
  readonly config: Config;
  readonly provider: ProviderSource;
  readonly principal: Principal;
  /** What a call without an id gets: the one default sandbox (stdio) or a fresh one (HTTP). */
  readonly implicit: "default" | "fresh";
  /** Unused for this long a sandbox ends, in milliseconds; undefined: never. */
  readonly idleMs: number | undefined;
}

/** For this long after its last use a sandbox is taken to be alive, in milliseconds. */
const trustedMs = 1000;

interface Held extends Entry {
  users: number;
  usedAt: number;
  timer?: NodeJS.Timeout | undefined;
}

/** The sandboxes of one principal: found by handle, ended when idle, counted against the cap. */
export class Sandboxes {
  readonly #options: SandboxesOptions;
  readonly #held = new Map<string, Held>();
  readonly #ended = new EndedSandboxes();
  readonly #closing = new AbortController();
  readonly #creating = new Set<Promise<Held>>();
  #default: Promise<Held> | undefined;

  constructor(options: SandboxesOptions) {
    this.#options = options;
  }

  /**
   * Runs `action` in the sandbox with this handle, or in the implicit one.
   * @throws SandboxError `NOT_FOUND` for a handle that was never given out, `EXPIRED` for one whose sandbox is gone,
   *   `QUOTA` at the cap, and whatever `action` throws
   */
  async use<Result>(
    handle: string | undefined,
    making: Making,
    action: (sandbox: Sandbox) => Promise<Result>,
  ): Promise<Used<Result>> {
    try {
      return await this.#useOnce(handle, making, action);
    } catch (error) {
      // `EXPIRED` is thrown before anything starts, so that nothing runs twice.
      const again = handle === undefined && this.#options.implicit === "default";
      if (again && error instanceof SandboxError && error.code === "EXPIRED") {
        return await this.#useOnce(handle, making, action);
      }
      throw error;
    }
  }

  async #useOnce<Result>(
    handle: string | undefined,
    making: Making,
    action: (sandbox: Sandbox) => Promise<Result>,
  ): Promise<Used<Result>> {
    const held = handle === undefined ? await this.#implicitly(making) : await this.#find(handle);
    // Read once: the first call after a loss tells of it.
    const notice = held.origin === "default" ? this.#ended.takeNotice() : undefined;
    try {
      const result = await this.#hold(held, () => action(held.sandbox));
      // The client has gone: it never learns the id of what was made for it.
      if (held.origin === "fresh" && making.signal?.aborted && handle === undefined) await this.#end(held, "cancelled");
      return { result, entry: held, introduce: held.origin === "fresh" && handle === undefined, notice };
    } catch (error) {
      const code = error instanceof SandboxError ? error.code : undefined;
      if (code === "EXPIRED" || code === "NOT_FOUND") await this.#end(held, "its lifetime was over");
      else if (code === "SANDBOX_LOST") await this.#end(held, "it was lost");
      else if (held.origin === "fresh" && handle === undefined) await this.#end(held, "its first call failed");
      throw error;
    }
  }

  /** A sandbox of its own, to be named by its handle in later calls. */
  async create(making: Making): Promise<Entry> {
    return await this.#create("named", making);
  }

  /** The living ones, asked of the backend; those found gone are dropped. */
  async list(): Promise<{ entry: Entry; info: SandboxInfo }[]> {
    const found = await Promise.all([...this.#held.values()].map((held) => this.#ask(held)));
    return found.filter((item) => item !== undefined);
  }

  /** @throws SandboxError `NOT_FOUND` for a handle that was never given out. False when it was gone already. */
  async destroy(handle: string): Promise<boolean> {
    const held = this.#held.get(handle);
    if (held === undefined) {
      this.#ended.refuseUnknown(this.#options.principal, handle);
      return false;
    }
    await this.#end(held, "it was destroyed", { strict: true });
    return true;
  }

  /** Ends everything; creations under way are aborted and what they made is ended too. */
  async close(): Promise<void> {
    this.#closing.abort(new SandboxError("UNAVAILABLE", "the server is shutting down", { retryable: false }));
    await Promise.allSettled(this.#creating);
    await Promise.all([...this.#held.values()].map((held) => this.#end(held, "the server was shut down")));
  }

  async #implicitly(making: Making): Promise<Held> {
    if (this.#options.implicit === "fresh") return await this.#create("fresh", making);
    if (this.#default !== undefined) await this.#checkAlive(await unlessAborted(this.#default, making.signal));
    // Shared by callers: one that gives up must not take it from the others.
    this.#default ??= this.#create("default", { onProgress: making.onProgress }).catch((error: unknown) => {
      this.#default = undefined;
      throw error;
    });
    return await unlessAborted(this.#default, making.signal);
  }

  async #create(origin: Entry["origin"], making: Making): Promise<Held> {
    await this.#makeRoom();
    const creation = this.#make(origin, making);
    this.#creating.add(creation);
    try {
      return await creation;
    } finally {
      this.#creating.delete(creation);
    }
  }

  async #make(origin: Entry["origin"], making: Making): Promise<Held> {
    const { config, provider, principal } = this.#options;
    const signals = making.signal === undefined ? [] : [making.signal];
    const options: CreateOptions = {
      ...config.defaults,
      ...(making.template === undefined ? {} : { template: making.template }),
      signal: AbortSignal.any([this.#closing.signal, ...signals]),
      onProgress: making.onProgress,
    };
    const sandbox = await createSandbox(await provider.get(), options);
    const held: Held = {
      handle: sealHandle(principal, sandbox.ref.id),
      sandbox,
      origin,
      users: 0,
      usedAt: performance.now(),
    };
    this.#held.set(held.handle, held);
    this.#arm(held);
    return held;
  }

  async #makeRoom(): Promise<void> {
    this.#closing.signal.throwIfAborted();
    const max = this.#options.config.maxSandboxes;
    if (this.#held.size + this.#creating.size < max) return;
    await this.list();
    if (this.#held.size + this.#creating.size < max) return;
    throw new SandboxError(
      "QUOTA",
      `all ${max} sandboxes of this server are in use (maxSandboxes): end one with destroy_sandbox, or pass the sandbox_id of a living one: ${[...this.#held.keys()].join(", ")}`,
    );
  }

  async #find(handle: string): Promise<Held> {
    const held = this.#held.get(handle);
    if (held !== undefined && (await this.#checkAlive(held))) return held;
    this.#ended.refuseUnknown(this.#options.principal, handle);
    throw new SandboxError(
      "EXPIRED",
      `sandbox ${handle} is gone (${this.#ended.reason(handle)}), with its files and variables: ${this.#options.implicit === "default" ? "leave sandbox_id out to use the default sandbox, or " : ""}make one with create_sandbox and set it up again`,
    );
  }

  /** Asks the backend about a sandbox that has not been used just now; false when it is gone, and then dropped. */
  async #checkAlive(held: Held): Promise<boolean> {
    if (held.users > 0 || performance.now() - held.usedAt < trustedMs) return true;
    return (await this.#ask(held)) !== undefined;
  }

  async #hold<Result>(held: Held, action: () => Promise<Result>): Promise<Result> {
    clearTimeout(held.timer);
    held.users += 1;
    try {
      return await action();
    } finally {
      held.users -= 1;
      held.usedAt = performance.now();
      this.#arm(held);
    }
  }

  #arm(held: Held): void {
    const { idleMs } = this.#options;
    if (idleMs === undefined || held.users > 0 || !this.#held.has(held.handle)) return;
    held.timer = setTimeout(() => void this.#end(held, `it was not used for ${idleMs / 1000} s`), idleMs);
    held.timer.unref();
  }

  async #ask(held: Held): Promise<{ entry: Entry; info: SandboxInfo } | undefined> {
    try {
      const info = await held.sandbox.info();
      if (info.state !== "gone") return { entry: held, info };
    } catch (error) {
      const code = error instanceof SandboxError ? error.code : undefined;
      if (code !== "EXPIRED" && code !== "SANDBOX_LOST" && code !== "NOT_FOUND") throw error;
    }
    await this.#end(held, "it ended by itself");
    return undefined;
  }

  async #end(held: Held, reason: string, { strict = false } = {}): Promise<void> {
    clearTimeout(held.timer);
    if (!this.#held.delete(held.handle)) return;
    this.#ended.add(held, reason);
    if (held.origin === "default") this.#default = undefined;
    try {
      await held.sandbox.destroy();
    } catch (error) {
      if (strict) throw error;
      report(`sandbox ${held.sandbox.ref.id} may still exist: its end failed`, error);
    }
  }
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise;
  signal.throwIfAborted();
  const settled = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { signal: settled.signal });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    settled.abort();
  }
}
