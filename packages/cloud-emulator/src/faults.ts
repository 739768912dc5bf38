/** What goes wrong with a request. */
export type Fault =
  /** Answered by this status instead of being handled. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  /**
   * The connection breaks: before the request is handled, after that but before anything is answered, or after so many
   * bytes of the body of the answer.
   */
  | { readonly drop: "before" | "after" | { readonly afterBytes: number } }
  /** The answer ends cleanly after so many bytes of its body. */
  | { readonly truncateAfterBytes: number }
  /** Nothing happens for so long, in milliseconds of real time; then the request goes on, to the next rule that fits. */
  | { readonly delayMs: number };

/** Which requests a fault is laid on. */
export type FaultRule = Fault & {
  /** Default: any. */
  readonly method?: string | undefined;
  /** A path that must be equal, or a pattern tried on the path with its query; default: any. */
  readonly path?: string | RegExp | undefined;
  /** How many requests; default 1. `Infinity`: until it is removed. */
  readonly times?: number | undefined;
  /** How many that fit go through first; default 0. */
  readonly skip?: number | undefined;
};

/** An answer that is cut off. */
export interface Cut {
  readonly afterBytes: number;
  readonly how: "drop" | "truncate";
}

/** What is to be done to one request, in this order. */
export interface FaultPlan {
  readonly delayMs: number;
  readonly dropBefore: boolean;
  readonly answer: { readonly status: number; readonly headers: Record<string, string>; readonly body: unknown } | null;
  readonly cut: Cut | undefined;
}

interface Armed {
  readonly rule: FaultRule;
  skip: number;
  left: number;
}

/** Rules that break requests on purpose. The first rule that fits is used up; a delay lets the next one join in. */
export class Faults {
  #armed: Armed[] = [];

  constructor(rules: readonly FaultRule[] = []) {
    for (const rule of rules) this.add(rule);
  }

  /** Lays a fault on requests to come; the function takes it back. */
  add(rule: FaultRule): () => void {
    const armed = { rule, skip: rule.skip ?? 0, left: rule.times ?? 1 };
    this.#armed.push(armed);
    return () => {
      this.#armed = this.#armed.filter((one) => one !== armed);
    };
  }

  /** Takes all rules back. */
  clear(): void {
    this.#armed = [];
  }

  /** How many times rules that have an end are still to strike. */
  get pending(): number {
    return this.#armed.reduce((sum, { left }) => sum + (Number.isFinite(left) ? left : 0), 0);
  }

  /** Uses up what is laid on this request. */
  take(method: string, url: URL): FaultPlan {
    let delayMs = 0;
    for (const armed of this.#armed) {
      const { rule } = armed;
      if (!fits(rule, method, url)) continue;
      if (armed.skip > 0) {
        armed.skip -= 1;
        continue;
      }
      armed.left -= 1;
      this.#armed = this.#armed.filter((one) => one.left > 0);
      if ("delayMs" in rule) delayMs += rule.delayMs;
      else return plan(rule, delayMs);
    }
    return { delayMs, dropBefore: false, answer: null, cut: undefined };
  }
}

function fits(rule: FaultRule, method: string, url: URL): boolean {
  if (rule.method !== undefined && rule.method !== method) return false;
  if (rule.path === undefined) return true;
  if (typeof rule.path === "string") return rule.path === url.pathname;
  return url.pathname.concat(url.search).search(rule.path) >= 0;
}

function plan(rule: Exclude<Fault, { delayMs: number }>, delayMs: number): FaultPlan {
  const nothing = { delayMs, dropBefore: false, answer: null, cut: undefined };
  if ("status" in rule) {
    return { ...nothing, answer: { status: rule.status, headers: { ...rule.headers }, body: rule.body } };
  }
  if ("truncateAfterBytes" in rule) {
    return { ...nothing, cut: { afterBytes: rule.truncateAfterBytes, how: "truncate" } };
  }
  if (rule.drop === "before") return { ...nothing, dropBefore: true };
  return { ...nothing, cut: { afterBytes: rule.drop === "after" ? 0 : rule.drop.afterBytes, how: "drop" } };
}
