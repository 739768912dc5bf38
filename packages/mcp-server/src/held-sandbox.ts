import { type Sandbox, SandboxError, type SandboxInfo } from "@sandkit/core";

/** For this long after its last use a sandbox is taken to be alive, in milliseconds. */
const trustedMs = 1_000;
const gone: readonly string[] = ["EXPIRED", "SANDBOX_LOST", "NOT_FOUND"];

export interface HeldSandboxOptions {
  /** What the model calls it: `sandbox_id`. */
  readonly handle: string;
  readonly sandbox: Sandbox;
  /** `default`: used by every call without an id. `fresh`: made for one such call. `named`: by create_sandbox. */
  readonly origin: "default" | "fresh" | "named";
  /** Unused for this long it is idle, in milliseconds; undefined: never. */
  readonly idleMs: number | undefined;
  readonly onIdle?: (() => void) | undefined;
  /** The replica where its interpreters are; undefined: wherever it is used. */
  readonly home?: string | undefined;
  /** True when another process made it, or this server before it was started again. */
  readonly joined?: boolean | undefined;
}

/** A living sandbox, and the clock of its use. */
export class HeldSandbox {
  readonly handle: string;
  readonly sandbox: Sandbox;
  readonly origin: HeldSandboxOptions["origin"];
  readonly home: string | undefined;
  readonly joined: boolean;
  /** True until a cell has run whose caller may believe in variables of before. */
  stateUntold: boolean;
  readonly #idleMs: number | undefined;
  readonly #onIdle: (() => void) | undefined;
  #users = 0;
  #usedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor({ handle, sandbox, origin, idleMs, onIdle, home, joined = false }: HeldSandboxOptions) {
    this.handle = handle;
    this.sandbox = sandbox;
    this.origin = origin;
    this.home = home;
    this.joined = joined;
    this.stateUntold = joined && home !== undefined;
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
    this.#startClock();
    // Whoever looks at a page that it serves uses it too.
    sandbox.onUse(() => this.#touch());
  }

  /** Uses the sandbox: while anything does, it is not idle. */
  async hold<Result>(action: (sandbox: Sandbox) => Promise<Result>): Promise<Result> {
    clearTimeout(this.#timer);
    this.#users += 1;
    try {
      return await action(this.sandbox);
    } finally {
      this.#users -= 1;
      this.#touch();
    }
  }

  /** True for one that no server made. */
  get isGranted(): boolean {
    return this.joined && this.home === undefined;
  }

  /** Since it was last used, in milliseconds. */
  get unusedMs(): number {
    return this.#users > 0 ? 0 : performance.now() - this.#usedAt;
  }

  /** False when the backend says that it is gone; one that was used just now is not asked about. */
  async isAlive(): Promise<boolean> {
    if (this.#users > 0 || performance.now() - this.#usedAt < trustedMs) return true;
    return (await this.info()) !== undefined;
  }

  /** What the backend says of it; undefined when it is gone. */
  async info(): Promise<SandboxInfo | undefined> {
    try {
      const info = await this.sandbox.info();
      return info.state === "gone" ? undefined : info;
    } catch (error) {
      if (error instanceof SandboxError && gone.includes(error.code)) return undefined;
      throw error;
    }
  }

  stopClock(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #touch(): void {
    this.#usedAt = performance.now();
    this.#startClock();
  }

  #startClock(): void {
    clearTimeout(this.#timer);
    if (this.#idleMs === undefined || this.#onIdle === undefined || this.#users > 0 || this.#stopped) return;
    this.#timer = setTimeout(this.#onIdle, this.#idleMs);
    this.#timer.unref();
  }
}
