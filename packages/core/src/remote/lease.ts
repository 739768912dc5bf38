import type { ErrorCode } from "../errors.js";
import { SandboxError } from "../errors.js";

/** How long a box outlives the last client that renews it, in milliseconds. */
export const defaultLeaseMs = 5 * 60_000;

const gone: ReadonlySet<ErrorCode> = new Set(["NOT_FOUND", "SANDBOX_LOST", "EXPIRED"]);
const shortestRetryMs = 1_000;

/** Whether a vendor's answer says that there is no such box any more, which is to be confirmed. */
export function saysGone(error: unknown): boolean {
  return error instanceof SandboxError && gone.has(error.code);
}

/** What a lease renews, and for how long. */
export interface LeaseOptions {
  /** Default {@link defaultLeaseMs}. */
  readonly leaseMs?: number | undefined;
  /** The user's end of the box, from now, which no renewal goes beyond. */
  readonly ttlMs?: number | undefined;
  /** Moves the vendor's end of life to so many milliseconds from now. Never called twice at one time. */
  renew(ms: number): Promise<void>;
  /** Asked when a renewal says that the box is gone: true when that is so, and nothing is renewed any more. */
  confirmGone?(): Promise<boolean>;
}

/**
 * Keeps a vendor's box alive while somebody uses it: every third of the lease its end is moved to a lease from now, or
 * to the user's own end if that is earlier. A failure is tried again. Does not keep the program alive.
 */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #leaseMs: number;
  #endsAt: number;
  #timer: NodeJS.Timeout | undefined;
  #stopped = true;
  /** Settles when the last renewal that was begun is over; never rejects. */
  #renewed: Promise<void> = Promise.resolve();

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? defaultLeaseMs;
    this.#endsAt = options.ttlMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + options.ttlMs;
  }

  /** What of the user's own end is left, in milliseconds; undefined without one. */
  get restMs(): number | undefined {
    return this.#endsAt === Number.POSITIVE_INFINITY ? undefined : Math.max(1, this.#endsAt - Date.now());
  }

  /** Whether the user's own end is past. */
  get isOver(): boolean {
    return Date.now() >= this.#endsAt;
  }

  /** Begins to renew, at once. */
  start(): void {
    this.#stopped = false;
    this.#renewSoon(0);
  }

  /**
   * The box belongs to nobody until `start`. Resolves when no renewal is under way any more: what the vendor's end is
   * moved to after that stays.
   */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#renewed;
  }

  /**
   * Moves the user's end, and the vendor's with it, which a stopped lease leaves to its next start.
   * @throws what `renew` throws; the end is the old one then
   */
  async extend(ttlMs: number): Promise<void> {
    const before = this.#endsAt;
    this.#endsAt = Date.now() + ttlMs;
    if (this.#stopped) return;
    try {
      await this.#renewNow();
    } catch (error) {
      this.#endsAt = before;
      throw error;
    }
    if (!this.#stopped) this.#renewSoon(this.#leaseMs / 3);
  }

  get #span(): number {
    return Math.max(1, Math.min(this.#leaseMs, this.#endsAt - Date.now()));
  }

  /** After the one that is under way: of two at one time nobody knows which the vendor heard last. */
  #renewNow(): Promise<void> {
    const renewing = this.#renewed.then(() => this.#options.renew(this.#span));
    this.#renewed = renewing.catch(() => undefined);
    return renewing;
  }

  #renewSoon(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#renew(), ms);
    this.#timer.unref();
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    // Past the user's end there is nothing to keep: the vendor ends it, or did.
    if (this.#stopped || this.isOver) return;
    try {
      await this.#renewNow();
      if (!this.#stopped) this.#renewSoon(this.#leaseMs / 3);
    } catch (error) {
      if (await this.#isGone(error)) this.#stopped = true;
      if (!this.#stopped) this.#renewSoon(Math.max(shortestRetryMs, this.#leaseMs / 12));
    }
  }

  async #isGone(error: unknown): Promise<boolean> {
    if (this.#stopped || !saysGone(error)) return false;
    try {
      return (await this.#options.confirmGone?.()) ?? true;
    } catch {
      // Who could tell does not answer: then nothing is known, and it is asked again.
      return false;
    }
  }
}
