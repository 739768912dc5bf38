type HeadersInit = Headers | Iterable<readonly [string, string]> | Readonly<Record<string, string>>;

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const forbidden = /[\0\r\n]/;

/** The web's `Headers`: names without regard to case, several values of a name as one. */
export class Headers {
  #list: [name: string, value: string][] = [];

  constructor(init: HeadersInit = []) {
    const pairs = init instanceof Headers ? init.#list : isIterable(init) ? init : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }

  append(name: string, value: string): void {
    this.#list.push([checkedName(name), checkedValue(value)]);
  }

  set(name: string, value: string): void {
    const key = checkedName(name);
    this.#list = this.#list.filter(([known]) => known !== key);
    this.append(key, value);
  }

  get(name: string): string | null {
    const key = checkedName(name);
    const values = this.#list.filter(([known]) => known === key).map(([, value]) => value);
    return values.length > 0 ? values.join(", ") : null;
  }

  getSetCookie(): string[] {
    return this.#list.filter(([name]) => name === "set-cookie").map(([, value]) => value);
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  delete(name: string): void {
    const key = checkedName(name);
    this.#list = this.#list.filter(([known]) => known !== key);
  }

  forEach(callback: (value: string, name: string, headers: this) => void): void {
    for (const [name, value] of this) callback(value, name, this);
  }

  *entries(): Generator<[string, string]> {
    const names = [...new Set(this.#list.map(([name]) => name))].sort();
    for (const name of names) {
      // Those of cookies cannot be joined.
      if (name === "set-cookie") for (const value of this.getSetCookie()) yield [name, value];
      else yield [name, this.get(name) ?? ""];
    }
  }

  *keys(): Generator<string> {
    for (const [name] of this) yield name;
  }

  *values(): Generator<string> {
    for (const [, value] of this) yield value;
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries();
  }
}

function isIterable(init: object): init is Iterable<readonly [string, string]> {
  return Symbol.iterator in init;
}

function checkedName(name: unknown): string {
  if (!token.test(String(name))) throw new TypeError(`Invalid header name: ${JSON.stringify(String(name))}`);
  return String(name).toLowerCase();
}

function checkedValue(value: unknown): string {
  const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  if (forbidden.test(text)) throw new TypeError(`Invalid header value: ${JSON.stringify(text)}`);
  return text;
}
