import { Buffer } from "./buffer.js";
import { customInspect, inspect } from "./inspect.js";

const loneSurrogates = /\p{Surrogate}/gu;

type Init = string | Iterable<readonly [string, string]> | Readonly<Record<string, unknown>>;

/** The web's `URLSearchParams`. */
export class URLSearchParams {
  #list: [name: string, value: string][] = [];
  readonly #onChange: ((search: string) => void) | undefined;

  constructor(init: Init = "", onChange?: (search: string) => void) {
    if (typeof init === "string") this.#list = parsed(init);
    else {
      const pairs = Symbol.iterator in init ? (init as Iterable<readonly [string, string]>) : Object.entries(init);
      for (const [name, value] of pairs) this.#list.push([String(name), String(value)]);
    }
    this.#onChange = typeof onChange === "function" ? onChange : undefined;
  }

  get size(): number {
    return this.#list.length;
  }

  append(name: string, value: string): void {
    this.#list.push([String(name), String(value)]);
    this.#changed();
  }

  delete(name: string, value?: string): void {
    this.#list = this.#list.filter(([known, of]) => known !== name || (value !== undefined && of !== value));
    this.#changed();
  }

  get(name: string): string | null {
    return this.#list.find(([known]) => known === name)?.[1] ?? null;
  }

  getAll(name: string): string[] {
    return this.#list.filter(([known]) => known === name).map(([, value]) => value);
  }

  has(name: string, value?: string): boolean {
    return this.#list.some(([known, of]) => known === name && (value === undefined || of === value));
  }

  set(name: string, value: string): void {
    const first = this.#list.findIndex(([known]) => known === name);
    const others = this.#list.filter(([known], index) => known !== name || index === first);
    const place = others.findIndex(([known]) => known === name);
    if (place < 0) others.push([String(name), String(value)]);
    else others[place] = [String(name), String(value)];
    this.#list = others;
    this.#changed();
  }

  sort(): void {
    this.#list.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#changed();
  }

  forEach(callback: (value: string, name: string, params: this) => void): void {
    for (const [name, value] of this.#list) callback(value, name, this);
  }

  *entries(): Generator<[string, string]> {
    for (const [name, value] of this.#list) yield [name, value];
  }

  *keys(): Generator<string> {
    for (const [name] of this.#list) yield name;
  }

  *values(): Generator<string> {
    for (const [, value] of this.#list) yield value;
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries();
  }

  toString(): string {
    return this.#list.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&");
  }

  /** Not for programs: what the address that it belongs to has become. */
  reset(search: string): void {
    this.#list = parsed(search);
  }

  [customInspect](): string {
    return `URLSearchParams ${inspect(Object.fromEntries(this.#list))}`;
  }

  #changed(): void {
    this.#onChange?.(this.toString());
  }
}

function parsed(text: string): [string, string][] {
  const query = text.startsWith("?") ? text.slice(1) : text;
  return query
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const [name = "", ...rest] = pair.split("=");
      return [decoded(name), decoded(rest.join("="))];
    });
}

function encoded(text: string): string {
  return encodeURIComponent(text.replace(loneSurrogates, "\ufffd"))
    .replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}

/** What is no escape stays as it is, and what is no UTF-8 is replaced. */
function decoded(text: string): string {
  const spaced = text.replaceAll("+", " ");
  if (!spaced.includes("%")) return spaced;
  return spaced.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) =>
    Buffer.from(escapes.replaceAll("%", ""), "hex").toString("utf8"),
  );
}
