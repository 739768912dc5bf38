import { messageOf } from "../errors.js";

/** How long a link may be without use before it is given up, from the first connection that broke. */
const troubleMs = 45_000;
/** A box that stands still for a moment, to be copied, is not paused. */
const standstillMs = 2_000;
const attemptMs = 15_000;
const longestPauseMs = 4_000;

/** How a link goes on when its connection breaks. */
export interface LinkOptions {
  /** Whether the box stands still, so that there is nothing to connect to until somebody resumes it. */
  readonly isPaused?: (() => Promise<boolean>) | undefined;
  /** Told when it was found so. */
  readonly onPaused?: (() => void) | undefined;
}

/** The link that is to be restored. */
export interface Restorable {
  readonly connected: boolean;
  /** No connection is wanted any more, or not now. */
  readonly over: boolean;
  /** Connects and has the guest go on; false when the program on the terminal has gone. */
  connect(signal: AbortSignal): Promise<boolean>;
  fail(failure: Error): void;
  /** The box was found paused: what waits goes on waiting, until somebody resumes it. */
  stop(): void;
}

/** Finds the way back when a connection has broken: again and again, at growing intervals, until it has taken too long. */
export class Restorer {
  readonly #options: LinkOptions;
  readonly #link: Restorable;
  #restoring: Promise<void> | undefined;
  #attempt = new AbortController();
  #troubleSince: number | undefined;
  #copies = 0;

  constructor(options: LinkOptions, link: Restorable) {
    this.#options = options;
    this.#link = link;
  }

  get busy(): boolean {
    return this.#restoring !== undefined;
  }

  /** The connection is of use. */
  well(): void {
    this.#troubleSince = undefined;
  }

  /** While the box is copied it may stand still for long: that is no pause, and no reason to give it up. */
  async whileCopied<Result>(copy: () => Promise<Result>): Promise<Result> {
    this.#copies += 1;
    try {
      return await copy();
    } finally {
      this.#copies -= 1;
    }
  }

  /** Ends what is under way. */
  giveUp(reason: Error): void {
    this.#attempt.abort(reason);
  }

  /** Forgets all trouble; resolves when nothing of it is under way. */
  async anew(): Promise<void> {
    this.#troubleSince = undefined;
    this.#attempt = new AbortController();
    await this.#restoring;
  }

  /** Resolves when there is a connection, or none is wanted. */
  restore(cause: unknown): Promise<void> {
    this.#restoring ??= this.#reconnect(cause).finally(() => {
      this.#restoring = undefined;
      // It may have broken again before this was known.
      const again = !this.#link.connected && !this.#link.over;
      return again ? this.restore(new Error("the connection broke again")) : undefined;
    });
    return this.#restoring;
  }

  async #reconnect(cause: unknown): Promise<void> {
    this.#attempt = new AbortController();
    const began = this.#troubleSince !== undefined;
    this.#troubleSince ??= performance.now();
    let reason = cause;
    // One that broke before it was of any use does not come back at once.
    for (let pauseMs = began ? 200 : 0; !this.#link.over; pauseMs = nextPause(pauseMs)) {
      await this.#wait(pauseMs);
      try {
        const signal = AbortSignal.any([this.#attempt.signal, AbortSignal.timeout(attemptMs)]);
        if (!(await this.#link.connect(signal))) {
          this.#link.fail(new Error(`the program on its terminal has ended: ${messageOf(cause)}`));
        }
        return;
      } catch (error) {
        reason = error;
      }
      if (this.#link.over) return;
      if (this.#copies > 0 || this.#troubleSince === undefined) this.#troubleSince = performance.now();
      const troubledMs = performance.now() - this.#troubleSince;
      if (troubledMs > standstillMs && (await this.#isPaused())) return;
      if (troubledMs > troubleMs) {
        const words = `it was not reached for ${troubleMs / 1000} s: ${messageOf(reason)}`;
        this.#link.fail(new Error(words, { cause: reason }));
      }
    }
  }

  /** By whomever. */
  async #isPaused(): Promise<boolean> {
    // Not to know is no answer: the next attempt shows.
    const paused = await this.#options.isPaused?.().catch(() => false);
    if (!paused || this.#link.over) return false;
    this.#link.stop();
    this.#options.onPaused?.();
    return true;
  }

  async #wait(ms: number): Promise<void> {
    if (ms === 0) return;
    const { signal } = this.#attempt;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

function nextPause(ms: number): number {
  return Math.min(longestPauseMs, Math.max(100, ms * 2));
}
