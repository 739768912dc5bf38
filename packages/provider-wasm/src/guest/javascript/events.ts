type Listener = (...args: never[]) => unknown;

interface Entry {
  readonly listener: Listener;
  readonly once: boolean;
}

/** Node's `EventEmitter`. */
export class EventEmitter {
  static EventEmitter = EventEmitter;
  static defaultMaxListeners = 10;
  #listeners = new Map<string | symbol, Entry[]>();

  /** A promise of the arguments of the next such event. */
  static once(emitter: EventEmitter, event: string | symbol): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => reject(error);
      if (event !== "error") emitter.once("error", fail as Listener);
      emitter.once(event, ((...args: unknown[]) => {
        emitter.off("error", fail as Listener);
        resolve(args);
      }) as Listener);
    });
  }

  on(event: string | symbol, listener: Listener): this {
    return this.#add(event, { listener, once: false });
  }

  addListener(event: string | symbol, listener: Listener): this {
    return this.on(event, listener);
  }

  once(event: string | symbol, listener: Listener): this {
    return this.#add(event, { listener, once: true });
  }

  prependListener(event: string | symbol, listener: Listener): this {
    this.#listeners.set(event, [{ listener, once: false }, ...(this.#listeners.get(event) ?? [])]);
    return this;
  }

  off(event: string | symbol, listener: Listener): this {
    const entries = this.#listeners.get(event) ?? [];
    const index = entries.findLastIndex((entry) => entry.listener === listener);
    if (index >= 0) this.#keep(event, entries.toSpliced(index, 1));
    return this;
  }

  removeListener(event: string | symbol, listener: Listener): this {
    return this.off(event, listener);
  }

  removeAllListeners(event?: string | symbol): this {
    if (event === undefined) this.#listeners.clear();
    else this.#listeners.delete(event);
    return this;
  }

  emit(event: string | symbol, ...args: unknown[]): boolean {
    const entries = this.#listeners.get(event) ?? [];
    if (entries.length === 0 && event === "error") {
      throw args[0] instanceof Error ? args[0] : new Error(`Unhandled error. (${String(args[0])})`);
    }
    for (const entry of entries) {
      if (entry.once) this.off(event, entry.listener);
      entry.listener.apply(this, args as never[]);
    }
    return entries.length > 0;
  }

  listenerCount(event: string | symbol): number {
    return this.#listeners.get(event)?.length ?? 0;
  }

  listeners(event: string | symbol): Listener[] {
    return (this.#listeners.get(event) ?? []).map(({ listener }) => listener);
  }

  eventNames(): (string | symbol)[] {
    return [...this.#listeners.keys()];
  }

  setMaxListeners(): this {
    return this;
  }

  #add(event: string | symbol, entry: Entry): this {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), entry]);
    return this;
  }

  #keep(event: string | symbol, entries: Entry[]): void {
    if (entries.length > 0) this.#listeners.set(event, entries);
    else this.#listeners.delete(event);
  }
}
