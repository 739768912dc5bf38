import { type ErrorCode, messageOf, SandboxError } from "../errors.js";
import type { CheckResult } from "../provider.js";
import type { BackendHealth } from "./balance-options.js";

/** Failures of a backend itself; all others are answers that it gave. */
const ofBackend: ReadonlySet<ErrorCode> = new Set(["UNAVAILABLE", "TRANSPORT", "AUTH", "TIMEOUT"]);
/** The time between two looks at one that failed grows to this many times the first. */
const longestWait = 16;

/** Whether a failure says that nothing can be had of the backend now; that of an index of packages says it of that. */
export function isOfBackend(error: unknown): boolean {
  return error instanceof SandboxError && ofBackend.has(error.code) && error.packageFailure === undefined;
}

export interface BackendHealthOptions {
  readonly failures: number;
  readonly recheckMs: number;
  readonly check: () => Promise<CheckResult>;
  readonly onChange: (health: Omit<BackendHealth, "backend">) => void;
}

/** Counts failures of one backend, takes it out, and looks whether it is well again. Keeps no program alive. */
export class Health {
  readonly #options: BackendHealthOptions;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #waits = 1;
  #stopped = false;

  constructor(options: BackendHealthOptions) {
    this.#options = options;
  }

  get state(): BackendHealth["state"] {
    return this.#failures < this.#options.failures ? "IDLE" : "ERROR";
  }

  /** Runs a call to the backend and takes note of how it ended. */
  async watch<T>(call: () => Promise<T>): Promise<T> {
    try {
      const result = await call();
      this.recover();
      return result;
    } catch (error) {
      if (isOfBackend(error)) this.#fail(messageOf(error));
      throw error;
    }
  }

  /** It is taken for well until it fails again. */
  recover(): void {
    const before = this.state;
    this.#failures = 0;
    this.#waits = 1;
    clearTimeout(this.#timer);
    if (before === "ERROR") this.#options.onChange({ state: "IDLE" });
  }

  /** Looks no more. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #fail(reason: string): void {
    const before = this.state;
    this.#failures += 1;
    if (this.state === before) return;
    this.#options.onChange({ state: "ERROR", reason });
    this.#lookLater();
  }

  #lookLater(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => this.#look(), this.#waits * this.#options.recheckMs);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const ok = await this.#options.check().then(
      (found) => found.ok,
      () => false,
    );
    // Somebody may have had an answer meanwhile.
    if (this.state === "IDLE") return;
    if (ok) return this.recover();
    this.#waits = Math.min(2 * this.#waits, longestWait);
    this.#lookLater();
  }
}
