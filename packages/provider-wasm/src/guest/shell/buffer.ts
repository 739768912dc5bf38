import { bytesOfLatin1, latin1 } from "./bytes.js";

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** As much of Node's `Buffer` as just-bash uses to turn bytes into text and back. */
export const Buffer = {
  from(data: string | ArrayLike<number>, encoding?: unknown): Bytes {
    if (typeof data !== "string") return copyOf(data);
    if (encoding === "base64") return copyOf(fromBase64(data));
    return copyOf(
      encoding === "latin1" || encoding === "binary" ? bytesOfLatin1(data) : new TextEncoder().encode(data),
    );
  },
};

class Bytes extends Uint8Array {
  override toString(encoding = "utf8"): string {
    if (encoding === "base64") return toBase64(this);
    return encoding === "latin1" || encoding === "binary" ? latin1(this) : new TextDecoder().decode(this);
  }
}

function copyOf(bytes: ArrayLike<number>): Bytes {
  const copy = new Bytes(bytes.length);
  copy.set(bytes);
  return copy;
}

function toBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(start, start + 3);
    const group = (first << 16) | (second << 8) | third;
    const text = [18, 12, 6, 0].map((shift) => digits[(group >> shift) & 63]).join("");
    const missing = Math.max(0, start + 3 - bytes.length);
    parts.push(text.slice(0, 4 - missing) + "=".repeat(missing));
  }
  return parts.join("");
}

function fromBase64(text: string): Uint8Array {
  const values = [...text.replaceAll("-", "+").replaceAll("_", "/")]
    .map((character) => digits.indexOf(character))
    .filter((value) => value >= 0);
  const bytes = new Uint8Array(Math.floor((values.length * 3) / 4));
  for (let index = 0; index < bytes.length; index += 1) {
    const place = Math.floor((index * 4) / 3);
    const shift = 4 - 2 * (index % 3);
    const pair = ((values[place] ?? 0) << 6) | (values[place + 1] ?? 0);
    bytes[index] = pair >> shift;
  }
  return bytes;
}
