import type { ProviderSession } from "../provider.js";

/** How often sessions are looked at that may have ended by themselves, in milliseconds. */
const lookMs = 30_000;

/** The sessions that were made at one backend and live: as far as is known, and looked up once in a while. */
export class HeldSessions {
  readonly #sessions = new Set<ProviderSession>();
  #making = 0;
  #lookedAt = performance.now();

  /** Those that live, and those that are being made. */
  get count(): number {
    if (performance.now() - this.#lookedAt > lookMs) {
      this.#lookedAt = performance.now();
      for (const session of this.#sessions) this.#forgetIfGone(session);
    }
    return this.#sessions.size + this.#making;
  }

  /** Counts what is being made, and then what was. */
  async hold(make: () => Promise<ProviderSession>): Promise<ProviderSession> {
    this.#making += 1;
    try {
      const session = await make();
      this.#sessions.add(session);
      return session;
    } finally {
      this.#making -= 1;
    }
  }

  add(session: ProviderSession): void {
    this.#sessions.add(session);
  }

  forget(session: ProviderSession): void {
    this.#sessions.delete(session);
  }

  async #forgetIfGone(session: ProviderSession): Promise<void> {
    // What cannot be told now is told at the next look.
    const state = await session.info().then(
      (info) => info.state,
      () => undefined,
    );
    if (state === "gone") this.#sessions.delete(session);
  }
}
