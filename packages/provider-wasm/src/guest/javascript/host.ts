/**
 * What the worker gives the guest. Nothing but primitives and buffers of bytes goes either way: texts that may hold
 * anything travel as JSON, and what `evaluate` and `compile` give is of the guest's own making.
 */
export interface Host {
  /** One blocking call to the broker, with JSON arguments; gives the JSON of the reply. */
  call(operation: string, args: string): string;
  /** A call whose reply brings bytes: gives them, or the JSON of a reply that has none. */
  receive(operation: string, args: string, length: number): ArrayBuffer | string;
  /** A call that takes bytes along, as all of a buffer; `length` is its own. */
  send(operation: string, args: string, buffer: ArrayBufferLike, length: number): string;
  /** Gives text to the broker; blocks while its consumer is behind. False, with nothing written, before a signal. */
  print(stream: number, textJson: string): boolean;
  printBytes(stream: number, buffer: ArrayBufferLike, length: number): boolean;
  encode(textJson: string): ArrayBuffer;
  /** JSON of the text; empty when the bytes are none and `fatal` is asked for. */
  decode(encoding: string, buffer: ArrayBufferLike, length: number, fatal: boolean): string;
  /** Runs a script in the global scope. The promise gives its completion value in an object. */
  evaluate(codeJson: string, name: string): Promise<{ readonly value: unknown }>;
  /** The value of a script that only makes a function. */
  compile(codeJson: string, name: string): unknown;
  /** `pending`, `fulfilled`, `rejected`, or `none` for what is no promise. */
  promiseState(value: unknown): string;
  /** What a settled promise holds. */
  promiseResult(promise: unknown): unknown;
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Blocks for so many milliseconds, or until a signal arrives. */
  sleep(ms: number): void;
  random(length: number): ArrayBuffer;
  /** The parts of an address as JSON: of [text, base], with a part set where [name, value] follow. Empty for none. */
  url(json: string): string;
  /** Whether code of the user runs, which a signal may end. */
  arm(on: boolean): void;
  /** Has the code that runs end at its next turn, past all `catch` and `finally`. */
  abort(): void;
  /** Gives so many MiB of what is held back of the memory. False where the rest cannot be held: memory is all taken. */
  headroom(mebibytes: number): boolean;
  /** The signal that waits, or 0. */
  pendingSignal(): number;
  /** Takes the signal that waits, or 0. */
  takeSignal(): number;
}

/** What there is to tell of an error when memory is all taken, and to free some in the cells after it. */
const headroom = { telling: 8, after: 4 } as const;
let connected: Host | undefined;

/** Set once, before anything else runs. */
export function connect(host: Host): void {
  connected = host;
}

/** The way out of the interpreter. */
export function host(): Host {
  if (!connected) throw new Error("the interpreter is not connected");
  return connected;
}

/** Largest piece of bytes in one call. */
export const longestPiece = 256 * 1024;
const { parse, stringify } = JSON;

/** Asks the broker and waits for its answer. */
export function call<Result>(operation: string, ...args: readonly unknown[]): Result {
  return parse(host().call(operation, stringify(args))) as Result;
}

/** Writes all of a text to a stream, waiting where its reader does. */
export function print(stream: 1 | 2, text: string): void {
  const longest = 1 << 20;
  for (let start = 0; start < text.length; ) {
    let end = Math.min(text.length, start + longest);
    // Never between the halves of a character.
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
    const piece = stringify(text.slice(start, end));
    // A signal ends this loop, where one is to end the code.
    while (!host().print(stream, piece));
    start = end;
  }
}

/** Writes all of some bytes to a stream. */
export function printBytes(stream: 1 | 2, bytes: Uint8Array): void {
  for (let start = 0; start < bytes.length; start += longestPiece) {
    const piece = bufferOf(bytes, start, longestPiece);
    while (!host().printBytes(stream, piece, piece.byteLength));
  }
}

/** A buffer that holds nothing but these bytes: buffers go out as a whole. */
export function bufferOf(bytes: Uint8Array, start = 0, most = bytes.length): ArrayBufferLike {
  const { buffer, byteOffset, byteLength } = bytes;
  const end = Math.min(byteLength, start + most);
  const isWhole = start === 0 && end === buffer.byteLength;
  return isWhole ? buffer : buffer.slice(byteOffset + start, byteOffset + end);
}

/** Whether memory is all taken. From here on there is headroom where it is, and none where it is not. */
export function isFull(): boolean {
  if (host().headroom(0)) return false;
  host().headroom(headroom.after);
  return true;
}

/** Does what must be possible when memory is all taken. */
export function withHeadroom<Result>(tell: () => Result): Result {
  host().headroom(headroom.telling);
  try {
    return tell();
  } finally {
    host().headroom(headroom.after);
  }
}
