import { settlesWithin } from "./deadline.js";
import { SandboxError } from "./errors.js";
import type { ProviderProcess } from "./provider.js";

/** How long a tree may take to be gone after SIGKILL before the sandbox is given up. */
const deathMs = 5_000;

/** What a process needs to know of the sandbox that it runs in. */
export interface ProcessOwner {
  readonly provider: string;
  readonly sandboxId: string;
  /** Gives the sandbox up: its processes can no longer be told dead from alive. */
  readonly abandon: () => Promise<void>;
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
      // Whatever goes wrong here goes wrong in the end that has begun, and is told there.
      this.#process.kill("SIGKILL").catch(() => undefined);
    }
    return this.outcome;
  }

  async #end(graceMs: number): Promise<void> {
    if (graceMs > 0) {
      await this.#process.kill("SIGTERM");
      if (await this.#goneWithin(graceMs)) return;
    }
    await this.#process.kill("SIGKILL");
    if (await this.#goneWithin(deathMs)) return;
    await this.#owner.abandon();
    throw new SandboxError(
      "SANDBOX_LOST",
      `process ${this.#process.id} was not confirmed dead within ${deathMs} ms of SIGKILL, so its sandbox was destroyed: create a new one`,
      { provider: this.#owner.provider, sandboxId: this.#owner.sandboxId, operation: "kill" },
    );
  }

  async #goneWithin(ms: number): Promise<boolean> {
    if (!(await settlesWithin(this.#process.gone, ms))) return false;
    this.#dead = true;
    return true;
  }
}
