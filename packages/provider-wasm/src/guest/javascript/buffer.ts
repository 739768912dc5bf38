import { bufferOf, host } from "./host.js";
import { customInspect } from "./inspect.js";

type Encoding = "utf8" | "hex" | "base64" | "base64url" | "latin1" | "ascii" | "utf16le";

const { parse, stringify } = JSON;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const encodings: Readonly<Record<string, Encoding>> = {
  utf8: "utf8",
  "utf-8": "utf8",
  hex: "hex",
  base64: "base64",
  base64url: "base64url",
  latin1: "latin1",
  binary: "latin1",
  ascii: "ascii",
  ucs2: "utf16le",
  "ucs-2": "utf16le",
  utf16le: "utf16le",
  "utf-16le": "utf16le",
};

/** @throws TypeError for an encoding that Node does not have */
function encodingOf(name: unknown = "utf8"): Encoding {
  const encoding = encodings[String(name).toLowerCase()];
  if (!encoding) throw Object.assign(new TypeError(`Unknown encoding: ${name}`), { code: "ERR_UNKNOWN_ENCODING" });
  return encoding;
}

/** Bytes as text. With `fatal`, undefined for what is no UTF-8. */
export function decode(bytes: Uint8Array, encoding = "utf-8", fatal = false): string | undefined {
  const json = host().decode(encoding, bufferOf(bytes), bytes.byteLength, fatal);
  return json === "" ? undefined : (parse(json) as string);
}

/** Text as UTF-8. */
export function encode(text: string): Uint8Array {
  return new Uint8Array(host().encode(stringify(text)));
}

/** Node's `Buffer`, in the parts that programs use. */
export class Buffer extends Uint8Array {
  static override from(source: unknown, second?: unknown, third?: unknown): Buffer {
    if (typeof source === "string") return wrap(bytesOf(source, encodingOf(second)));
    if (source instanceof ArrayBuffer || source instanceof SharedArrayBuffer) {
      return new Buffer(source as ArrayBuffer, second as number | undefined, third as number | undefined);
    }
    if (typeof source === "object" && source !== null) {
      const { type, data } = source as { type?: unknown; data?: unknown };
      return wrap(Uint8Array.from(type === "Buffer" && Array.isArray(data) ? data : (source as ArrayLike<number>)));
    }
    throw Object.assign(new TypeError("The first argument must be a string, a buffer or an array"), {
      code: "ERR_INVALID_ARG_TYPE",
    });
  }

  static alloc(size: number, fill?: number | string): Buffer {
    const buffer = new Buffer(size);
    return fill === undefined ? buffer : buffer.fill(fill as number);
  }

  static allocUnsafe(size: number): Buffer {
    return new Buffer(size);
  }

  static byteLength(text: string | ArrayBufferView | ArrayBuffer, encoding?: string): number {
    return typeof text === "string" ? bytesOf(text, encodingOf(encoding)).length : text.byteLength;
  }

  static concat(list: readonly Uint8Array[], total = list.reduce((sum, part) => sum + part.length, 0)): Buffer {
    const whole = new Buffer(total);
    let at = 0;
    for (const part of list) {
      if (at >= total) break;
      whole.set(part.subarray(0, total - at), at);
      at += part.length;
    }
    return whole;
  }

  static isBuffer(value: unknown): value is Buffer {
    return value instanceof Buffer;
  }

  static isEncoding(name: unknown): boolean {
    return typeof name === "string" && Object.hasOwn(encodings, name.toLowerCase());
  }

  static compare(a: Uint8Array, b: Uint8Array): number {
    for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
      const difference = (a[index] ?? 0) - (b[index] ?? 0);
      if (difference !== 0) return Math.sign(difference);
    }
    return Math.sign(a.length - b.length);
  }

  override toString(encoding?: string, start = 0, end = this.length): string {
    return textOf(this.subarray(start, end), encodingOf(encoding));
  }

  toJSON(): { type: "Buffer"; data: number[] } {
    return { type: "Buffer", data: Array.from(this) };
  }

  equals(other: Uint8Array): boolean {
    return this.length === other.length && Buffer.compare(this, other) === 0;
  }

  compare(other: Uint8Array): number {
    return Buffer.compare(this, other);
  }

  copy(target: Uint8Array, at = 0, start = 0, end = this.length): number {
    const part = this.subarray(start, Math.min(end, start + target.length - at));
    target.set(part, at);
    return part.length;
  }

  write(text: string, offset = 0, length = this.length - offset, encoding?: string): number {
    const bytes = bytesOf(text, encodingOf(encoding)).subarray(0, length);
    this.set(bytes, offset);
    return bytes.length;
  }

  override subarray(start?: number, end?: number): Buffer {
    const part = Uint8Array.prototype.subarray.call(this, start, end);
    return part instanceof Buffer ? part : wrap(part);
  }

  override slice(start?: number, end?: number): Buffer {
    return this.subarray(start, end);
  }

  override fill(value: number | string, start?: number, end?: number): this {
    if (typeof value === "number") return super.fill(value, start, end);
    const bytes = bytesOf(value, "utf8");
    const [from, to] = [start ?? 0, end ?? this.length];
    for (let at = from; at < to && bytes.length > 0; at += 1) this[at] = bytes[(at - from) % bytes.length] ?? 0;
    return this;
  }

  override indexOf(value: number | string | Uint8Array, from = 0): number {
    if (typeof value === "number") return super.indexOf(value, from);
    const wanted = typeof value === "string" ? bytesOf(value, "utf8") : value;
    for (let at = from; at <= this.length - wanted.length; at += 1) {
      if (wanted.every((byte, index) => this[at + index] === byte)) return at;
    }
    return -1;
  }

  override includes(value: number | string | Uint8Array, from = 0): boolean {
    return this.indexOf(value as number, from) >= 0;
  }

  [customInspect](): string {
    const shown = Array.from(Uint8Array.prototype.subarray.call(this, 0, 50), hex).join(" ");
    const more = this.length > 50 ? ` ... ${this.length - 50} more bytes` : "";
    return `<Buffer${shown && ` ${shown}`}${more}>`;
  }
}

for (const size of [8, 16, 32] as const) {
  for (const [kind, method] of [
    ["UInt", "Uint"],
    ["Int", "Int"],
  ] as const) {
    for (const order of size === 8 ? ([""] as const) : (["LE", "BE"] as const)) {
      addAccessors(`${kind}${size}${order}`, `${method}${size}`, size / 8, order !== "BE");
    }
  }
}
for (const [name, method, bytes] of [
  ["Float", "Float32", 4],
  ["Double", "Float64", 8],
  ["BigInt64", "BigInt64", 8],
  ["BigUInt64", "BigUint64", 8],
] as const) {
  for (const order of ["LE", "BE"] as const) addAccessors(`${name}${order}`, method, bytes, order === "LE");
}

type Accessor = (this: DataView, ...args: unknown[]) => unknown;

function addAccessors(name: string, method: string, bytes: number, little: boolean): void {
  const methods = DataView.prototype as unknown as Record<string, Accessor>;
  const [get, set] = [methods[`get${method}`], methods[`set${method}`]];
  const view = (buffer: Buffer) => new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  const members = {
    [`read${name}`]: function (this: Buffer, offset = 0) {
      return get?.call(view(this), offset, little);
    },
    [`write${name}`]: function (this: Buffer, value: unknown, offset = 0) {
      set?.call(view(this), offset, value, little);
      return offset + bytes;
    },
  };
  for (const [key, value] of Object.entries(members)) {
    Object.defineProperty(Buffer.prototype, key, { value, writable: true, configurable: true });
  }
}

function wrap(bytes: Uint8Array): Buffer {
  return new Buffer(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
}

function bytesOf(text: string, encoding: Encoding): Uint8Array {
  if (encoding === "utf8") return encode(text);
  if (encoding === "hex") {
    const pairs = /^(?:[0-9a-f]{2})*/i.exec(text)?.[0].match(/../g) ?? [];
    return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
  }
  if (encoding === "base64" || encoding === "base64url") return fromBase64(text);
  if (encoding === "utf16le") {
    const bytes = new Uint8Array(text.length * 2);
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      bytes[index * 2] = code & 0xff;
      bytes[index * 2 + 1] = code >> 8;
    }
    return bytes;
  }
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index) & 0xff;
  return bytes;
}

function textOf(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding === "utf8") return decode(bytes) ?? "";
  if (encoding === "hex") return Array.from(bytes, hex).join("");
  if (encoding === "base64") return toBase64(bytes);
  if (encoding === "base64url") return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (encoding === "utf16le") return decode(bytes, "utf-16le") ?? "";
  const mask = encoding === "ascii" ? 0x7f : 0xff;
  const pieces: string[] = [];
  for (let start = 0; start < bytes.length; start += 4096) {
    pieces.push(String.fromCharCode(...Array.from(bytes.subarray(start, start + 4096), (byte) => byte & mask)));
  }
  return pieces.join("");
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b, c] = [bytes[at], bytes[at + 1], bytes[at + 2]];
    const bits = (a << 16) | ((b ?? 0) << 8) | (c ?? 0);
    const chars = [18, 12, 6, 0].map((shift) => alphabet[(bits >> shift) & 63] ?? "");
    pieces.push(
      b === undefined
        ? `${chars[0]}${chars[1]}==`
        : c === undefined
          ? `${chars.slice(0, 3).join("")}=`
          : chars.join(""),
    );
  }
  return pieces.join("");
}

function fromBase64(text: string): Uint8Array {
  const clean = text.replace(/[^A-Za-z0-9+/_-]/g, "");
  const bytes = new Uint8Array(Math.floor((clean.length * 3) / 4));
  let [bits, count, at] = [0, 0, 0];
  for (const char of clean) {
    const digit = char === "-" ? 62 : char === "_" ? 63 : alphabet.indexOf(char);
    bits = ((bits << 6) | digit) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes[at] = (bits >> count) & 0xff;
    at += 1;
  }
  return bytes;
}
