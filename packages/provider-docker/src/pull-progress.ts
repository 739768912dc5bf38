const betweenMs = 250;
const megabyte = 1_000_000;

interface Layer {
  received: number;
  size: number;
  done: boolean;
}

/** Sums up what the engine tells of each layer into one line for people, a few times a second at most. */
export class PullProgress {
  readonly #image: string;
  readonly #report: (message: string) => void;
  readonly #layers = new Map<string, Layer>();
  #toldAt = Number.NEGATIVE_INFINITY;
  #told = "";

  constructor(image: string, report: (message: string) => void) {
    this.#image = image;
    this.#report = report;
  }

  /** One event of the engine's stream. */
  take(event: Readonly<Record<string, unknown>>): void {
    const { id, status, progressDetail: detail } = event;
    if (typeof id !== "string" || typeof status !== "string") return;
    // An id of a tag, in "Pulling from", is no layer.
    const layer = this.#layers.get(id) ?? { received: 0, size: 0, done: false };
    const known = status === "Pulling fs layer" || this.#layers.has(id);
    if (!known && status !== "Already exists") return;
    this.#layers.set(id, layer);
    if (status === "Downloading" && detail && typeof detail === "object") {
      if ("current" in detail && typeof detail.current === "number") layer.received = detail.current;
      if ("total" in detail && typeof detail.total === "number") layer.size = detail.total;
    }
    if (status === "Download complete" || status === "Extracting") layer.received = layer.size;
    if (status === "Pull complete" || status === "Already exists") layer.done = true;
    if (performance.now() - this.#toldAt >= betweenMs) this.#tell();
  }

  #tell(): void {
    const layers = [...this.#layers.values()];
    const sum = (pick: (layer: Layer) => number) => layers.reduce((total, layer) => total + pick(layer), 0);
    const size = sum((layer) => layer.size);
    const received = (sum((layer) => layer.received) / megabyte).toFixed(0);
    const bytes = size > 0 ? `${received} of ${(size / megabyte).toFixed(0)} MB, ` : "";
    const message = `pulling ${this.#image}: ${bytes}${sum((layer) => Number(layer.done))} of ${layers.length} layers`;
    if (message === this.#told) return;
    this.#told = message;
    this.#toldAt = performance.now();
    this.#report(message);
  }
}
