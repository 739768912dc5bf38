/** A timer of a {@link Clock}. */
export interface ClockTimer {
  cancel(): void;
}

interface Entry {
  readonly at: number;
  readonly act: () => void | Promise<void>;
  timer: NodeJS.Timeout | undefined;
}

const longestTimerMs = 2_147_483_647;

/** The time that lifetimes are counted in: the host's, and whatever {@link advance} has added to it. */
export class Clock {
  readonly #entries = new Set<Entry>();
  readonly #stoppedAt: number | undefined;
  #aheadMs = 0;

  /** @param options `stopped`: time passes by {@link advance} alone; default false. */
  constructor(options: { readonly stopped?: boolean | undefined } = {}) {
    this.#stoppedAt = options.stopped ? Date.now() : undefined;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return (this.#stoppedAt ?? Date.now()) + this.#aheadMs;
  }

  /** Calls once that time has come. Keeps no program alive. */
  at(time: number, act: () => void | Promise<void>): ClockTimer {
    const entry: Entry = { at: time, act, timer: undefined };
    this.#entries.add(entry);
    this.#arm(entry);
    return { cancel: () => this.#drop(entry) };
  }

  /** Moves the time on; resolves when all that fell due has been done, in its order. */
  async advance(ms: number): Promise<void> {
    this.#aheadMs += ms;
    for (;;) {
      const [next] = [...this.#entries].filter(({ at }) => at <= this.now()).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#drop(next);
      await next.act();
    }
    for (const entry of this.#entries) this.#arm(entry);
  }

  #arm(entry: Entry): void {
    clearTimeout(entry.timer);
    if (this.#stoppedAt !== undefined) return;
    const wait = Math.min(Math.max(0, entry.at - this.now()), longestTimerMs);
    entry.timer = setTimeout(() => this.#ring(entry), wait).unref();
  }

  #ring(entry: Entry): void {
    if (!this.#entries.has(entry)) return;
    if (entry.at > this.now()) {
      this.#arm(entry);
      return;
    }
    this.#drop(entry);
    Promise.resolve(entry.act()).catch((error) => {
      process.emitWarning(error instanceof Error ? error : String(error), { type: "CloudEmulatorWarning" });
    });
  }

  #drop(entry: Entry): void {
    clearTimeout(entry.timer);
    this.#entries.delete(entry);
  }
}
