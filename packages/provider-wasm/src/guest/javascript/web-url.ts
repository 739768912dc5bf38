import { host } from "./host.js";
import { customInspect, inspect } from "./inspect.js";
import { URLSearchParams } from "./search-params.js";

const settable = [
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;
type Part = (typeof settable)[number] | "href" | "origin";
type Parts = Readonly<Record<Part, string>>;

const { parse, stringify } = JSON;

/** The web's `URL`. Addresses are parsed outside, by the parser that then says which host is meant. */
export class URL {
  #parts: Parts;
  #params: URLSearchParams | undefined;

  constructor(address: unknown, base?: unknown) {
    this.#parts = partsOf([String(address), base === undefined ? null : String(base)]) ?? invalid(address);
  }

  static canParse(address: unknown, base?: unknown): boolean {
    return partsOf([String(address), base === undefined ? null : String(base)]) !== undefined;
  }

  static parse(address: unknown, base?: unknown): URL | null {
    return URL.canParse(address, base) ? new URL(address, base) : null;
  }

  get href(): string {
    return this.#parts.href;
  }

  set href(value: string) {
    this.#parts = this.#with("href", value) ?? invalid(value);
    this.#params?.reset(this.#parts.search);
  }

  get origin(): string {
    return this.#parts.origin;
  }

  get searchParams(): URLSearchParams {
    this.#params ??= new URLSearchParams(this.#parts.search, (text) => {
      this.#parts = this.#with("search", text) ?? this.#parts;
    });
    return this.#params;
  }

  toString(): string {
    return this.href;
  }

  toJSON(): string {
    return this.href;
  }

  [customInspect](): string {
    return `URL ${inspect({ ...this.#parts, searchParams: this.searchParams })}`;
  }

  /** Not for programs: what the accessors below are made of. */
  static part(url: URL, name: Part): string {
    return url.#parts[name];
  }

  static setPart(url: URL, name: Part, value: unknown): void {
    url.#parts = url.#with(name, value) ?? url.#parts;
    if (name === "search") url.#params?.reset(url.#parts.search);
  }

  #with(name: Part, value: unknown): Parts | undefined {
    return partsOf([this.#parts.href, null, name, String(value)]);
  }
}

const { part, setPart } = URL;
for (const name of settable) {
  Object.defineProperty(URL.prototype, name, {
    configurable: true,
    enumerable: true,
    get(this: URL) {
      return part(this, name);
    },
    set(this: URL, value: unknown) {
      setPart(this, name, value);
    },
  });
}
for (const name of ["part", "setPart"] as const) Reflect.deleteProperty(URL, name);

function partsOf(asked: readonly (string | null)[]): Parts | undefined {
  const json = host().url(stringify(asked));
  return json === "" ? undefined : (parse(json) as Parts);
}

function invalid(address: unknown): never {
  throw Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input: String(address) });
}
