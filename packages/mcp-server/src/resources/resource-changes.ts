type Listener = (uri: string) => void;

/** How often one resource is told to have changed, in milliseconds at least between two notices. */
const paceMs = 1_000;

/** Tells which resources have changed: each at once, and while it goes on changing once a second. */
export class ResourceChanges implements Disposable {
  readonly #listeners = new Set<Listener>();
  /** Told a moment ago; true when it has changed again since. */
  readonly #recent = new Map<string, { again: boolean; readonly timer: NodeJS.Timeout }>();

  /** Gives the way to stop listening. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** How many listen. */
  get listeners(): number {
    return this.#listeners.size;
  }

  publish(uri: string): void {
    if (this.#listeners.size === 0) return;
    const recent = this.#recent.get(uri);
    if (recent !== undefined) {
      recent.again = true;
      return;
    }
    const timer = setTimeout(() => this.#rest(uri), paceMs);
    timer.unref();
    this.#recent.set(uri, { again: false, timer });
    for (const listener of this.#listeners) listener(uri);
  }

  #rest(uri: string): void {
    const again = this.#recent.get(uri)?.again ?? false;
    this.#recent.delete(uri);
    if (again) this.publish(uri);
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#recent.values()) clearTimeout(timer);
    this.#recent.clear();
    this.#listeners.clear();
  }
}
