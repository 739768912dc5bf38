import { messageOf, SandboxError, toSandboxError } from "./errors.js";
import type { ReapOptions, SandboxRef } from "./provider.js";

/** A `reap` in the making: goes on after what could not be removed, and tells of that at its end. */
export class Sweep {
  readonly #provider: string;
  readonly #dryRun: boolean;
  readonly #removed: SandboxRef[] = [];
  readonly #failures: { readonly what: string; readonly reason: unknown }[] = [];

  constructor(provider: string, { dryRun = false }: Pick<ReapOptions, "dryRun"> = {}) {
    this.#provider = provider;
    this.#dryRun = dryRun;
  }

  /** Removes one thing, unless it is only to be told. @param remove Gives false for what stays, as it is needed. */
  async remove(id: string, remove: () => Promise<unknown>): Promise<void> {
    await this.attempt(id, async () => {
      if (this.#dryRun || (await remove()) !== false) this.#removed.push({ provider: this.#provider, id });
    });
  }

  /** Does a part of the whole, whose failure keeps nobody from the others. */
  async attempt(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (reason) {
      this.#failures.push({ what, reason });
    }
  }

  /**
   * What was removed, or would be.
   * @throws SandboxError with what was not, why, and what was
   */
  end(): SandboxRef[] {
    const [first] = this.#failures;
    if (!first) return this.#removed;
    const reasons = this.#failures.map(({ what, reason }) => `${what}: ${messageOf(reason)}`).join("; ");
    const done = this.#removed.map(({ id }) => id).join(", ") || "nothing";
    const message = `reap: not all could be looked at or removed: ${reasons} (${this.#dryRun ? "found" : "removed"}: ${done})`;
    const errors = this.#failures.map(({ reason }) => reason);
    throw new SandboxError(toSandboxError(first.reason, "UNAVAILABLE").code, message, {
      provider: this.#provider,
      operation: "reap",
      cause: errors.length === 1 ? first.reason : new AggregateError(errors),
    });
  }
}
