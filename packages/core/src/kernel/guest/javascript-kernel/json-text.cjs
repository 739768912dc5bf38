const longestValue = 8_000_000;
const most = 1_000_000;
const deepest = 500;

/** The value as JSON text, or undefined where it is nothing that JSON can hold. */
function jsonText(value, longest = longestValue) {
  try {
    const text = new Writer(longest).text(value);
    return text.length <= longest ? text : undefined;
  } catch {
    // Most values have no JSON; what its own code throws says no more than that.
    return undefined;
  }
}

class Writer {
  #longest;
  #left = most;
  #length = 0;
  #depth = 0;

  constructor(longest) {
    this.#longest = longest;
  }

  text(value, key = "") {
    this.#left -= 1;
    if (this.#left < 0 || this.#length > this.#longest || this.#depth > deepest)
      throw new RangeError("it is too large");
    if (typeof value === "object" && value !== null) return this.#compound(value, key);
    const text = typeof value === "number" && !Number.isFinite(value) ? undefined : JSON.stringify(value);
    if (text === undefined) throw new TypeError("no JSON");
    this.#length += text.length;
    return text;
  }

  #compound(value, key) {
    if (value.length > this.#left && (Array.isArray(value) || ArrayBuffer.isView(value)))
      throw new RangeError("it is too large");
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return this.#compound(Array.from(value), key);
    if (typeof value.toJSON === "function") return this.text(value.toJSON(key), key);
    this.#depth += 1;
    const text = Array.isArray(value)
      ? `[${Array.from(value, (item, index) => this.text(item ?? null, String(index))).join(",")}]`
      : `{${this.#members(value)}}`;
    this.#depth -= 1;
    return text;
  }

  #members(value) {
    const kind = Object.getPrototypeOf(value);
    // Also those of another realm.
    if (kind !== null && Object.getPrototypeOf(kind) !== null) throw new TypeError("no JSON");
    return Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => `${JSON.stringify(name)}:${this.text(member, name)}`)
      .join(",");
  }
}

module.exports = { jsonText };
