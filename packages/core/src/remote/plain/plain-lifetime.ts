/** The ends of a box that no agent in it keeps: after a time, and after a time without use. They are this program's. */
export class PlainLifetime {
  readonly #idleMs: number | undefined;
  readonly #onEnd: (why: string) => void;
  #busy = 0;
  #ending: NodeJS.Timeout | undefined;
  #idling: NodeJS.Timeout | undefined;
  #endsAt: number | null = null;
  #idleAt: number | null = null;
  #over = false;

  constructor(
    { ttlMs, idleMs }: { readonly ttlMs?: number | undefined; readonly idleMs?: number | undefined },
    onEnd: (why: string) => void,
  ) {
    this.#idleMs = idleMs;
    this.#onEnd = onEnd;
    if (ttlMs !== undefined) this.extend(ttlMs);
    this.touch();
  }

  /** Milliseconds since the epoch, as it is now; null without an end. */
  get expiresAt(): number | null {
    if (this.#endsAt === null || this.#idleAt === null) return this.#endsAt ?? this.#idleAt;
    return Math.min(this.#endsAt, this.#idleAt);
  }

  /** Moves its end to so many milliseconds from now. */
  extend(ttlMs: number): void {
    clearTimeout(this.#ending);
    this.#endsAt = Date.now() + ttlMs;
    if (!this.#over) this.#ending = this.#after(ttlMs, "its time is over");
  }

  /** It is in use at this moment. */
  touch(): void {
    clearTimeout(this.#idling);
    this.#idleAt = null;
    if (this.#over || this.#idleMs === undefined || this.#busy > 0) return;
    this.#idleAt = Date.now() + this.#idleMs;
    this.#idling = this.#after(this.#idleMs, `it was not used for ${this.#idleMs} ms`);
  }

  /** It is in use until the work has settled. */
  async whileBusy<Result>(work: Promise<Result>): Promise<Result> {
    this.#busy += 1;
    this.touch();
    try {
      return await work;
    } finally {
      this.#busy -= 1;
      this.touch();
    }
  }

  stop(): void {
    this.#over = true;
    clearTimeout(this.#ending);
    clearTimeout(this.#idling);
  }

  #after(ms: number, why: string): NodeJS.Timeout {
    // Longer than a timer can be is further than this program will live.
    const timer = setTimeout(() => this.#onEnd(why), Math.min(ms, 2 ** 31 - 1));
    timer.unref();
    return timer;
  }
}
