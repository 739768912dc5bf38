import { availableParallelism } from "node:os";
import { unlessAborted } from "./deadline.js";
import { keepAlive } from "./keep-alive.js";

/** How a pool makes its members and lets go of them. */
export interface PoolOptions<Kind, Member> {
  /** Members kept ready of each kind. */
  readonly size: number;
  /** Kinds of which members are kept: those asked for last. Default 3. */
  readonly maxKinds?: number | undefined;
  /** Members of a kind made at the same time. Default: one less than there are processors, and at least one. */
  readonly makingAtMost?: number | undefined;
  /** Equal for kinds whose members are as good as one another. */
  readonly keyOf: (kind: Kind) => string;
  /**
   * Makes a member that nobody has used, without keeping the program alive meanwhile. On abort, and on failure,
   * nothing may be left behind.
   */
  readonly make: (kind: Kind, signal: AbortSignal) => Promise<Member>;
  /** Settles when the member has died by itself. */
  readonly gone: (member: Member) => Promise<unknown>;
  /** Ends a member that nobody will get. */
  readonly dispose: (member: Member) => Promise<void>;
}

/** Gives what was just taken the processor for its first work. */
const refillDelayMs = 100;
/** After a failure to make a member; doubled with each further one. */
const [firstRetryMs, longestRetryMs] = [1_000, 60_000];
const defaultMaxKinds = 3;

interface Making<Member> {
  /** Undefined when it could not be made. */
  readonly member: Promise<Member | undefined>;
  /** Whoever waits for it; nobody: it goes to the ready ones. */
  claimed: boolean;
}

interface Shelf<Kind, Member> {
  readonly kind: Kind;
  readonly abort: AbortController;
  readonly ready: Set<Member>;
  readonly making: Set<Making<Member>>;
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Members made ahead of time, by kind: what is fixed when they are made. Each is handed out once. Members that die are
 * replaced; refilling goes on in the background and never keeps the program alive.
 */
export class Pool<Kind, Member> {
  readonly #options: PoolOptions<Kind, Member>;
  /** In the order of their last use. */
  readonly #shelves = new Map<string, Shelf<Kind, Member>>();
  readonly #ending = new Set<Promise<unknown>>();
  #drained = false;

  constructor(options: PoolOptions<Kind, Member>) {
    this.#options = options;
  }

  /** Begins to keep members of a kind. */
  keep(kind: Kind): void {
    if (!this.#drained) this.#refill(this.#shelf(kind));
  }

  /** Takes out a ready member that suits, without waiting for one and without beginning to keep its kind. */
  take(kind: Kind, suits: (member: Member) => boolean = () => true): Member | undefined {
    return this.#shelves.has(this.#options.keyOf(kind)) ? this.#takeReady(this.#shelf(kind), suits) : undefined;
  }

  /**
   * Takes a member out: a ready one, else the one that will be ready soonest. Undefined when there is none: make one.
   * @throws the reason of the signal
   */
  async claim(kind: Kind, signal?: AbortSignal): Promise<Member | undefined> {
    signal?.throwIfAborted();
    if (this.#drained) return undefined;
    const shelf = this.#shelf(kind);
    const ready = this.#takeReady(shelf, () => true);
    if (ready !== undefined) return ready;
    try {
      const making = [...shelf.making].find(({ claimed }) => !claimed);
      return making && (await this.#await(shelf, making, signal));
    } finally {
      this.#refillLater(shelf, refillDelayMs);
    }
  }

  /** Ends every member that nobody has claimed, and keeps none from now on. Claims find nothing. Idempotent. */
  async drain(): Promise<void> {
    this.#drained = true;
    for (const key of [...this.#shelves.keys()]) this.#drop(key);
    while (this.#ending.size > 0) await keepAlive(Promise.all(this.#ending));
  }

  #takeReady(shelf: Shelf<Kind, Member>, suits: (member: Member) => boolean): Member | undefined {
    const member = [...shelf.ready].find(suits);
    if (member === undefined) return undefined;
    shelf.ready.delete(member);
    this.#refillLater(shelf, refillDelayMs);
    return member;
  }

  #shelf(kind: Kind): Shelf<Kind, Member> {
    const key = this.#options.keyOf(kind);
    const shelf = this.#shelves.get(key) ?? {
      kind,
      abort: new AbortController(),
      ready: new Set(),
      making: new Set(),
      failures: 0,
      timer: undefined,
    };
    this.#shelves.delete(key);
    this.#shelves.set(key, shelf);
    const [oldest] = this.#shelves.keys();
    if (this.#shelves.size > (this.#options.maxKinds ?? defaultMaxKinds) && oldest !== undefined) this.#drop(oldest);
    return shelf;
  }

  #drop(key: string): void {
    const shelf = this.#shelves.get(key);
    if (!shelf) return;
    this.#shelves.delete(key);
    clearTimeout(shelf.timer);
    // Someone may wait for one in the making: that one is finished, and the others end.
    if (![...shelf.making].some(({ claimed }) => claimed)) shelf.abort.abort();
    for (const { member } of shelf.making) this.#end(member);
    for (const member of shelf.ready) this.#dispose(member);
    shelf.ready.clear();
  }

  #refillLater(shelf: Shelf<Kind, Member>, delayMs: number): void {
    if (!this.#keeps(shelf)) return;
    clearTimeout(shelf.timer);
    shelf.timer = setTimeout(() => this.#refill(shelf), delayMs);
    shelf.timer.unref();
  }

  #refill(shelf: Shelf<Kind, Member>): void {
    if (!this.#keeps(shelf)) return;
    const { size, makingAtMost = Math.max(1, availableParallelism() - 1) } = this.#options;
    const unclaimed = [...shelf.making].filter(({ claimed }) => !claimed).length;
    const missing = size - shelf.ready.size - unclaimed;
    for (let count = Math.min(missing, makingAtMost - shelf.making.size); count > 0; count -= 1) this.#make(shelf);
  }

  #make(shelf: Shelf<Kind, Member>): void {
    const making: Making<Member> = {
      claimed: false,
      member: this.#options.make(shelf.kind, shelf.abort.signal).then(
        (member) => {
          shelf.making.delete(making);
          shelf.failures = 0;
          if (!making.claimed) this.#store(shelf, member);
          this.#refillLater(shelf, making.claimed ? refillDelayMs : 0);
          return member;
        },
        () => {
          shelf.making.delete(making);
          // Whoever needs a member now makes it, and is told what is wrong.
          this.#refillLater(shelf, Math.min(firstRetryMs * 2 ** shelf.failures, longestRetryMs));
          shelf.failures += 1;
          return undefined;
        },
      ),
    };
    shelf.making.add(making);
  }

  #store(shelf: Shelf<Kind, Member>, member: Member): void {
    if (!this.#keeps(shelf)) {
      this.#dispose(member);
      return;
    }
    shelf.ready.add(member);
    const replace = () => {
      if (shelf.ready.delete(member)) this.#refillLater(shelf, refillDelayMs);
    };
    this.#options.gone(member).then(replace, replace);
  }

  /** Waits for a member in the making. One whose claimant gave up is as good as new. */
  async #await(
    shelf: Shelf<Kind, Member>,
    making: Making<Member>,
    signal: AbortSignal | undefined,
  ): Promise<Member | undefined> {
    making.claimed = true;
    try {
      return await keepAlive(unlessAborted(making.member, signal));
    } catch (error) {
      this.#end(making.member.then((member) => member !== undefined && this.#store(shelf, member)));
      throw error;
    }
  }

  /** Whether members of this kind are still kept. */
  #keeps(shelf: Shelf<Kind, Member>): boolean {
    return this.#shelves.get(this.#options.keyOf(shelf.kind)) === shelf;
  }

  #dispose(member: Member): void {
    this.#end(this.#options.dispose(member));
  }

  /** Remembers what is under way, so that `drain` can wait for it. */
  #end(work: Promise<unknown>): void {
    // What cannot be ended here is found by `reap`.
    const settled = work.catch(() => undefined).finally(() => this.#ending.delete(settled));
    this.#ending.add(settled);
  }
}
