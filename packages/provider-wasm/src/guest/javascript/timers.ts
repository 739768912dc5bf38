import { host } from "./host.js";
import { customInspect, inspect } from "./inspect.js";

type Callback = (...args: unknown[]) => unknown;

const longestDelay = 2 ** 31 - 1;

/** What `setTimeout` gives, as in Node. */
export class Timeout {
  readonly id: number;
  readonly callback: Callback;
  readonly args: readonly unknown[];
  readonly interval: number | undefined;
  readonly delay: number;
  due: number;
  referenced = true;

  constructor(id: number, callback: Callback, delay: number, repeats: boolean, args: readonly unknown[]) {
    this.id = id;
    this.callback = callback;
    this.delay = delay;
    this.interval = repeats ? delay : undefined;
    this.args = args;
    this.due = host().now() + delay;
  }

  ref(): this {
    this.referenced = true;
    return this;
  }

  unref(): this {
    this.referenced = false;
    return this;
  }

  hasRef(): boolean {
    return this.referenced;
  }

  refresh(): this {
    this.due = host().now() + this.delay;
    return this;
  }

  [Symbol.toPrimitive](): number {
    return this.id;
  }

  [customInspect](): string {
    return `Timeout ${inspect({ id: this.id, delay: this.delay, repeats: this.interval !== undefined })}`;
  }
}

/** The timers of one interpreter. There is no other thread: they run when the driver asks for it. */
export class Timers {
  readonly #timeouts = new Map<number, Timeout>();
  readonly #immediates = new Map<number, Timeout>();
  #lastId = 0;

  setTimeout = (callback: Callback, delay?: unknown, ...args: unknown[]): Timeout =>
    this.#add(callback, delay, false, args);
  setInterval = (callback: Callback, delay?: unknown, ...args: unknown[]): Timeout =>
    this.#add(callback, delay, true, args);

  setImmediate = (callback: Callback, ...args: unknown[]): Timeout => {
    const immediate = this.#make(callback, 0, false, args);
    this.#immediates.set(immediate.id, immediate);
    return immediate;
  };

  /** Takes what any of the three gave, or its number. */
  clear = (timer: unknown): void => {
    const id = timer instanceof Timeout ? timer.id : Number(timer);
    this.#timeouts.delete(id);
    this.#immediates.delete(id);
  };

  /** Milliseconds until the next one is due; undefined when there is none. */
  get delay(): number | undefined {
    if (this.#immediates.size > 0) return 0;
    let due: number | undefined;
    for (const timeout of this.#timeouts.values()) due = Math.min(due ?? timeout.due, timeout.due);
    return due === undefined ? undefined : Math.max(0, due - host().now());
  }

  /** Whether any of them keeps a program alive. */
  get referenced(): boolean {
    if (this.#immediates.size > 0) return true;
    for (const timeout of this.#timeouts.values()) if (timeout.referenced) return true;
    return false;
  }

  /** Takes one that is due, or undefined. One at a time, so that the promises that it settles go on before the next. */
  take(): (() => unknown) | undefined {
    const due = this.#nextDue() ?? this.#immediates.values().next().value;
    if (!due) return undefined;
    this.#immediates.delete(due.id);
    if (due.interval === undefined) this.#timeouts.delete(due.id);
    else due.due = Math.max(due.due + due.interval, host().now());
    const { callback, args } = due;
    return () => callback(...args);
  }

  #nextDue(): Timeout | undefined {
    const now = host().now();
    let next: Timeout | undefined;
    for (const timeout of this.#timeouts.values()) {
      if (timeout.due <= now && (!next || timeout.due < next.due)) next = timeout;
    }
    return next;
  }

  #add(callback: Callback, delay: unknown, repeats: boolean, args: readonly unknown[]): Timeout {
    const wanted = Number(delay);
    const timeout = this.#make(callback, wanted >= 1 && wanted <= longestDelay ? wanted : 1, repeats, args);
    this.#timeouts.set(timeout.id, timeout);
    return timeout;
  }

  #make(callback: Callback, delay: number, repeats: boolean, args: readonly unknown[]): Timeout {
    if (typeof callback !== "function") {
      throw Object.assign(
        new TypeError(`The "callback" argument must be of type function. Received ${inspect(callback)}`),
        {
          code: "ERR_INVALID_ARG_TYPE",
        },
      );
    }
    this.#lastId += 1;
    return new Timeout(this.#lastId, callback, delay, repeats, args);
  }
}

/** Timers as programs know them, by their names. */
export function functionsOf(timers: Timers) {
  return {
    setTimeout: timers.setTimeout,
    setInterval: timers.setInterval,
    setImmediate: timers.setImmediate,
    clearTimeout: timers.clear,
    clearInterval: timers.clear,
    clearImmediate: timers.clear,
  };
}
