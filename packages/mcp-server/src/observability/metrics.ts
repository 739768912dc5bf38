/** Labels of one series: their values in the order of the metric's label names. */
type Values = readonly string[];

interface Metric {
  readonly name: string;
  render(): string;
}

/** Metrics as Prometheus reads them (text format 0.0.4). */
export class Metrics {
  readonly #metrics: Metric[] = [];

  /** A number that only grows; its name ends in `_total`. */
  counter(name: string, help: string, ...labels: string[]): Counter {
    return this.#add(new Counter(name, help, labels));
  }

  /** How long things took, in seconds, in buckets. */
  histogram(name: string, help: string, buckets: readonly number[], ...labels: string[]): Histogram {
    return this.#add(new Histogram(name, help, buckets, labels));
  }

  /** A number that is read when somebody looks. */
  gauge(name: string, help: string, read: () => number): void {
    this.#add({ name, render: () => `${head(name, help, "gauge")}${name} ${read()}\n` });
  }

  /** As {@link gauge}, for one that only grows. */
  reading(name: string, help: string, read: () => number): void {
    this.#add({ name, render: () => `${head(name, help, "counter")}${name} ${read()}\n` });
  }

  render(): string {
    return this.#metrics.map((metric) => metric.render()).join("");
  }

  #add<One extends Metric>(metric: One): One {
    this.#metrics.push(metric);
    return metric;
  }
}

export class Counter implements Metric {
  readonly name: string;
  readonly #help: string;
  readonly #labels: readonly string[];
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string, labels: readonly string[]) {
    this.name = name;
    this.#help = help;
    this.#labels = labels;
    if (labels.length === 0) this.#values.set("", 0);
  }

  /** @param values Of the labels, in their order; they come from closed sets, so that the series stay few. */
  add(amount: number, ...values: Values): void {
    const series = labelled(this.#labels, values);
    this.#values.set(series, (this.#values.get(series) ?? 0) + amount);
  }

  render(): string {
    const lines = [...this.#values].map(([series, value]) => `${this.name}${series} ${value}\n`);
    return head(this.name, this.#help, "counter") + lines.join("");
  }
}

interface Distribution {
  readonly values: Values;
  /** How many fell into each bucket, the last one unbounded. */
  readonly counts: number[];
  sum: number;
}

export class Histogram implements Metric {
  readonly name: string;
  readonly #help: string;
  readonly #labels: readonly string[];
  readonly #buckets: readonly number[];
  readonly #series = new Map<string, Distribution>();

  constructor(name: string, help: string, buckets: readonly number[], labels: readonly string[]) {
    this.name = name;
    this.#help = help;
    this.#buckets = buckets;
    this.#labels = labels;
  }

  observe(seconds: number, ...values: Values): void {
    const key = values.join("\0");
    const fresh = { values, counts: new Array<number>(this.#buckets.length + 1).fill(0), sum: 0 };
    const series = this.#series.get(key) ?? fresh;
    this.#series.set(key, series);
    const found = this.#buckets.findIndex((bound) => seconds <= bound);
    const at = found < 0 ? this.#buckets.length : found;
    series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.sum += seconds;
  }

  render(): string {
    return (
      head(this.name, this.#help, "histogram") + [...this.#series.values()].map((one) => this.#lines(one)).join("")
    );
  }

  #lines({ values, counts, sum }: Distribution): string {
    const bounds = [...this.#buckets.map(String), "+Inf"];
    let count = 0;
    const buckets = bounds.map((bound, at) => {
      count += counts[at] ?? 0;
      return `${this.name}_bucket${labelled([...this.#labels, "le"], [...values, bound])} ${count}\n`;
    });
    const series = labelled(this.#labels, values);
    return `${buckets.join("")}${this.name}_sum${series} ${sum}\n${this.name}_count${series} ${count}\n`;
  }
}

function head(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function labelled(names: readonly string[], values: Values): string {
  if (names.length === 0) return "";
  const escaped = (value: string) => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `{${names.map((name, at) => `${name}="${escaped(values[at] ?? "")}"`).join(",")}}`;
}
