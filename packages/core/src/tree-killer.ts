import { settlesWithin } from "./deadline.js";
import { SandboxError } from "./errors.js";
import type { ProviderProcess } from "./provider.js";

/** How long a tree may take to be gone after SIGKILL before the sandbox is given up. */
const deathMs = 5_000;
/** How long a sandbox that is not reached may keep a kill waiting. */
const stalledMs = 60_000;

/**
 * Gives a sandbox up because something in it can no longer be told dead from alive: destroys it.
 * @throws SandboxError `SANDBOX_LOST`, always
 */
export type Abandon = (why: string, operation: string, cause?: unknown) => Promise<never>;

/** What a process needs to know of the sandbox that it runs in. */
export interface ProcessOwner {
  readonly provider: string;
  readonly abandon: Abandon;
}

/** Ends the process tree of one program, and believes it dead only when the provider has confirmed it. */
export class TreeKiller {
  /**
   * Resolves when the tree was killed and is gone; rejects with `SANDBOX_LOST` when that could not be confirmed.
   * Pending while nothing is killed.
   */
  readonly outcome: Promise<void>;
  readonly #process: ProviderProcess;
  readonly #owner: ProcessOwner;
  #settle: (outcome: Promise<void>) => void = () => undefined;
  #begun = false;
  #dead = false;
  /** Why a signal did not get through: not the last word, but the likely cause when the tree lives on. */
  #unsent: unknown;

  constructor(process: ProviderProcess, owner: ProcessOwner) {
    this.#process = process;
    this.#owner = owner;
    this.outcome = new Promise<void>((resolve) => {
      this.#settle = resolve;
    });
    this.outcome.catch(() => undefined);
    process.gone.catch(() => undefined);
  }

  /** True once a kill was ordered. */
  get begun(): boolean {
    return this.#begun;
  }

  /** True once the tree was killed and is gone. */
  get dead(): boolean {
    return this.#dead;
  }

  /** SIGTERM, the grace, SIGKILL; without a grace SIGKILL at once, also when a gentler end has begun. */
  kill(graceMs: number): Promise<void> {
    if (!this.#begun) {
      this.#begun = true;
      this.#settle(this.#end(graceMs));
    } else if (graceMs === 0) {
      this.#send("SIGKILL");
    }
    return this.outcome;
  }

  async #end(graceMs: number): Promise<void> {
    if (graceMs > 0) {
      await settlesWithin(this.#send("SIGTERM"), graceMs);
      if (await this.#goneWithin(graceMs)) return;
    }
    this.#send("SIGKILL");
    if (await this.#goneWithin(deathMs)) return;
    if (this.#process.stalled) {
      const message = `process ${this.#process.id} was sent SIGKILL, but the sandbox is not reached: look again later`;
      throw new SandboxError("UNAVAILABLE", message, {
        provider: this.#owner.provider,
        operation: "kill",
        cause: this.#unsent,
      });
    }
    await this.#owner.abandon(`process ${this.#process.id} was not confirmed dead after SIGKILL`, "kill", this.#unsent);
  }

  /** Never rejects: what counts is whether the tree is gone. */
  async #send(signal: string): Promise<void> {
    try {
      await this.#process.kill(signal);
    } catch (cause) {
      this.#unsent = cause;
    }
  }

  /** A `gone` that rejects confirms nothing. */
  async #goneWithin(ms: number): Promise<boolean> {
    const confirmed = this.#process.gone.then(() => {
      this.#dead = true;
    });
    // The time counts only while the sandbox can be heard.
    const patience = performance.now() + stalledMs;
    for (let stalled = true; stalled && performance.now() < patience; ) {
      stalled = this.#process.stalled === true;
      if (await settlesWithin(confirmed, ms)) break;
      stalled ||= this.#process.stalled === true;
    }
    return this.#dead;
  }
}
