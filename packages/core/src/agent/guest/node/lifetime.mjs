/** Longer timers fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** When the agent ends by itself. */
export class Lifetime {
  #onEnd;
  #inUse;
  #endsAt = null;
  #idleMs = null;
  #usedAt = Date.now();
  #timer;

  /** @param inUse Whether a program runs. */
  constructor(onEnd, inUse) {
    this.#onEnd = onEnd;
    this.#inUse = inUse;
  }

  begin(ttlMs, idleMs) {
    this.#endsAt = ttlMs === null ? null : Date.now() + ttlMs;
    this.#idleMs = idleMs;
    this.#set();
  }

  extend(ttlMs) {
    this.#endsAt = Date.now() + ttlMs;
    this.#set();
  }

  use() {
    this.#usedAt = Date.now();
  }

  get expiresAt() {
    const ends = [this.#endsAt, this.#idleEnd()].filter((time) => time !== null);
    return ends.length === 0 ? null : Math.floor(Math.min(...ends));
  }

  #idleEnd() {
    if (this.#idleMs === null) return null;
    if (this.#inUse()) this.use();
    return this.#usedAt + this.#idleMs;
  }

  #set() {
    clearTimeout(this.#timer);
    const at = this.expiresAt;
    if (at === null) return;
    this.#timer = setTimeout(() => this.#look(), Math.min(Math.max(0, at - Date.now()), maxTimerMs));
  }

  #look() {
    const now = Date.now();
    if (this.#endsAt !== null && now >= this.#endsAt) this.#onEnd("ttl", "its time is over");
    else if (this.#idleMs !== null && now >= this.#idleEnd()) this.#onEnd("idle", `unused for ${this.#idleMs} ms`);
    else this.#set();
  }
}
