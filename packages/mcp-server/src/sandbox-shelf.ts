import type { EndedSandboxes } from "./ended-sandboxes.js";
import type { HeldSandbox } from "./held-sandbox.js";
import { report } from "./report.js";

/** The living sandboxes of one principal, by what the model calls them; those that leave are remembered as ended. */
export class SandboxShelf {
  readonly #held = new Map<string, HeldSandbox>();
  readonly #ended: EndedSandboxes;
  readonly #onGone: (held: HeldSandbox) => void;

  /** @param onGone Told at once of each that is held no more, for whatever reason. */
  constructor(ended: EndedSandboxes, onGone: (held: HeldSandbox) => void) {
    this.#ended = ended;
    this.#onGone = onGone;
  }

  get size(): number {
    return this.#held.size;
  }

  all(): HeldSandbox[] {
    return [...this.#held.values()];
  }

  get(handle: string): HeldSandbox | undefined {
    return this.#held.get(handle);
  }

  add(held: HeldSandbox): void {
    this.#held.set(held.handle, held);
  }

  /** Holds it no more, without a word on what became of it. False when it was not held. */
  drop(held: HeldSandbox): boolean {
    held.stopClock();
    if (!this.#held.delete(held.handle)) return false;
    this.#onGone(held);
    return true;
  }

  /** Holds it no more, and remembers why. False when it was not held. */
  forget(held: HeldSandbox, reason: string): boolean {
    if (!this.drop(held)) return false;
    this.#ended.add(held, reason);
    return true;
  }

  /** Ends the sandbox itself too. A failure is told to whoever runs the server: nobody waits for it. */
  async end(held: HeldSandbox, reason: string): Promise<void> {
    if (!this.forget(held, reason)) return;
    try {
      await held.sandbox.destroy();
    } catch (error) {
      report(`sandbox ${held.sandbox.ref.id} may still exist: its end failed`, error);
    }
  }

  /** Whether it lives as far as its backend knows; what does not is remembered as ended. */
  async checkAlive(held: HeldSandbox): Promise<boolean> {
    const alive = await held.isAlive();
    if (!alive) await this.end(held, this.#ended.guess(held));
    return alive;
  }
}
