import type { ProviderSession } from "../provider.js";

/** How often sessions are looked at that may have ended by themselves, in milliseconds. */
const lookMs = 30_000;

/** The sessions that were made at one backend and live: as far as is known, and looked up once in a while. */
export class HeldSessions {
  /** With the names of their sandboxes. */
  readonly #sessions = new Map<ProviderSession, string | undefined>();
  #making = 0;
  #lookedAt = performance.now();

  /** Those that live, and those that are being made. */
  get count(): number {
    this.#look();
    return this.#sessions.size + this.#making;
  }

  /** Counts what is being made, and then what was. */
  async hold(name: string | undefined, make: () => Promise<ProviderSession>): Promise<ProviderSession> {
    this.#look();
    this.#making += 1;
    try {
      const session = await make();
      this.#sessions.set(session, name);
      return session;
    } finally {
      this.#making -= 1;
    }
  }

  add(session: ProviderSession): void {
    this.#sessions.set(session, undefined);
  }

  forget(session: ProviderSession): void {
    this.#sessions.delete(session);
  }

  /** Whether one of this name lives; one that does not answer may. */
  async holds(name: string): Promise<boolean> {
    for (const [session, own] of this.#sessions) {
      if (own === name && !(await this.#forgetIfGone(session))) return true;
    }
    return false;
  }

  #look(): void {
    if (performance.now() - this.#lookedAt < lookMs) return;
    this.#lookedAt = performance.now();
    for (const session of this.#sessions.keys()) this.#forgetIfGone(session);
  }

  /** What cannot be told now is told at the next look. */
  async #forgetIfGone(session: ProviderSession): Promise<boolean> {
    const isGone = await session.info().then(
      ({ state }) => state === "gone",
      () => false,
    );
    if (isGone) this.#sessions.delete(session);
    return isGone;
  }
}
