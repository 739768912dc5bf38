/** Buckets that are kept; the least used goes first, and starts full when it comes back. */
const maxKept = 10_000;

interface Bucket {
  left: number;
  filledAt: number;
}

/** So many requests a minute for each key, all at once if need be. */
export class RateLimit {
  readonly #perMinute: number;
  /** In the order of their last use. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** Takes one; 0 when there was one, else the whole seconds until there is. */
  take(key: string, now = performance.now()): number {
    const bucket = this.#buckets.get(key) ?? { left: this.#perMinute, filledAt: now };
    bucket.left = Math.min(this.#perMinute, bucket.left + ((now - bucket.filledAt) / 60_000) * this.#perMinute);
    bucket.filledAt = now;
    this.#keep(key, bucket);
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) / this.#perMinute) * 60);
    bucket.left -= 1;
    return 0;
  }

  #keep(key: string, bucket: Bucket): void {
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > maxKept && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
