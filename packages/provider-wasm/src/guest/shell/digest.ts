/** `crypto.subtle.digest` in the two forms that `sha1sum` and `sha256sum` ask for: this realm has no other. */
export async function digest(algorithm: string, data: ArrayBuffer | Uint8Array): Promise<ArrayBuffer> {
  const hash = Object.hasOwn(hashes, algorithm) ? hashes[algorithm] : undefined;
  if (!hash) throw new Error(`${algorithm} is not available in this shell`);
  const state = hash.start.slice();
  const bytes = new Uint8Array(data);
  const whole = bytes.length - (bytes.length % blockBytes);
  const words = new Int32Array(80);
  for (let at = 0; at < whole; at += blockBytes) hash.mix(state, bytes, at, words);
  const end = ending(bytes.subarray(whole), bytes.length);
  for (let at = 0; at < end.length; at += blockBytes) hash.mix(state, end, at, words);
  const result = new DataView(new ArrayBuffer(state.length * 4));
  for (const [index, word] of state.entries()) result.setInt32(index * 4, word);
  return result.buffer;
}

interface Hash {
  readonly start: Int32Array;
  /** Takes one block into the state. */
  readonly mix: (state: Int32Array, bytes: Uint8Array, at: number, words: Int32Array) => void;
}

const blockBytes = 64;
const primes = [
  2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
  113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 191, 193, 197, 199, 211, 223, 227, 229, 233, 239,
  241, 251, 257, 263, 269, 271, 277, 281, 283, 293, 307, 311,
];
/** The first 32 bits of the fractional part of a root, as FIPS 180-4 has its constants. */
const fraction = (root: number) => Math.floor((root % 1) * 2 ** 32) | 0;
const rounds256 = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));

const hashes: Readonly<Record<string, Hash>> = {
  "SHA-1": { start: Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0), mix: mix1 },
  "SHA-256": { start: Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))), mix: mix256 },
};

const left = (word: number, by: number) => (word << by) | (word >>> (32 - by));
const right = (word: number, by: number) => (word >>> by) | (word << (32 - by));

/** What follows the last whole block: the rest, a mark, and how long all is. */
function ending(rest: Uint8Array, length: number): Uint8Array {
  const end = new Uint8Array(rest.length + 9 > blockBytes ? 2 * blockBytes : blockBytes);
  end.set(rest);
  end[rest.length] = 0x80;
  const view = new DataView(end.buffer);
  view.setUint32(end.length - 8, Math.floor(length / 2 ** 29));
  view.setUint32(end.length - 4, (length * 8) >>> 0);
  return end;
}

function readWords(bytes: Uint8Array, at: number, words: Int32Array): void {
  for (let index = 0; index < 16; index += 1) {
    const place = at + index * 4;
    const high = ((bytes[place] ?? 0) << 24) | ((bytes[place + 1] ?? 0) << 16);
    words[index] = high | ((bytes[place + 2] ?? 0) << 8) | (bytes[place + 3] ?? 0);
  }
}

function add(state: Int32Array, ...words: readonly number[]): void {
  for (const [index, word] of words.entries()) state[index] = ((state[index] ?? 0) + word) | 0;
}

function mix1(state: Int32Array, bytes: Uint8Array, at: number, words: Int32Array): void {
  readWords(bytes, at, words);
  const word = (index: number) => words[index] ?? 0;
  for (let index = 16; index < 80; index += 1) {
    words[index] = left(word(index - 3) ^ word(index - 8) ^ word(index - 14) ^ word(index - 16), 1);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
  for (let index = 0; index < 80; index += 1) {
    const next = (left(a, 5) + mixed(index, b, c, d) + e + word(index)) | 0;
    e = d;
    d = c;
    c = left(b, 30);
    b = a;
    a = next;
  }
  add(state, a, b, c, d, e);
}

function mixed(round: number, b: number, c: number, d: number): number {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  return round < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc : (b ^ c ^ d) + 0xca62c1d6;
}

function mix256(state: Int32Array, bytes: Uint8Array, at: number, words: Int32Array): void {
  readWords(bytes, at, words);
  const word = (index: number) => words[index] ?? 0;
  for (let index = 16; index < 64; index += 1) {
    const [near, far] = [word(index - 2), word(index - 15)];
    const small = right(far, 7) ^ right(far, 18) ^ (far >>> 3);
    words[index] =
      (word(index - 16) + small + word(index - 7) + (right(near, 17) ^ right(near, 19) ^ (near >>> 10))) | 0;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let index = 0; index < 64; index += 1) {
    const upper = right(e, 6) ^ right(e, 11) ^ right(e, 25);
    const first = (h + upper + ((e & f) ^ (~e & g)) + (rounds256[index] ?? 0) + word(index)) | 0;
    const second = ((right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  add(state, a, b, c, d, e, f, g, h);
}
