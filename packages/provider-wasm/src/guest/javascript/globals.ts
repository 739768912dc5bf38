import { Headers } from "../web/headers.js";
import { AbortController, withTimeout } from "./abort.js";
import { Buffer, decode, encode } from "./buffer.js";
import { structuredClone } from "./clone.js";
import { createConsole } from "./console.js";
import { createFetch, Request } from "./fetch.js";
import { host } from "./host.js";
import type { Process } from "./process.js";
import type { Requests } from "./requests.js";
import { Response } from "./response.js";
import { URLSearchParams } from "./search-params.js";
import { functionsOf, type Timers } from "./timers.js";
import { URL } from "./web-url.js";

class TextEncoder {
  readonly encoding = "utf-8";

  encode(text = ""): Uint8Array {
    return encode(String(text));
  }

  encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
    let [read, written] = [0, 0];
    for (const char of text) {
      const bytes = encode(char);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += char.length;
    }
    return { read, written };
  }
}

class TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;

  constructor(encoding = "utf-8", { fatal = false }: { fatal?: boolean } = {}) {
    this.encoding = encoding.toLowerCase();
    this.fatal = fatal;
  }

  decode(input: ArrayBuffer | ArrayBufferView = new ArrayBuffer(0)): string {
    const bytes = ArrayBuffer.isView(input)
      ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
      : new Uint8Array(input);
    const text = decode(bytes, this.encoding, this.fatal);
    if (text === undefined) {
      throw Object.assign(new TypeError("The encoded data was not valid"), {
        code: "ERR_ENCODING_INVALID_ENCODED_DATA",
      });
    }
    return text;
  }
}

const crypto = {
  getRandomValues: <View extends ArrayBufferView>(view: View): View => {
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(new Uint8Array(host().random(view.byteLength)));
    return view;
  },
  randomUUID: (): string => {
    const bytes = new Uint8Array(host().random(16));
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  },
};

/** `Math.random` of its own: what the engine has was seeded once, when its memory was saved. */
function createRandom(): () => number {
  let words = new Uint32Array();
  let at = 0;
  const random = () => {
    if (at === words.length) [words, at] = [new Uint32Array(host().random(4096)), 0];
    const [high, low] = [(words[at] ?? 0) >>> 5, (words[at + 1] ?? 0) >>> 6];
    at += 2;
    return (high * 2 ** 26 + low) / 2 ** 53;
  };
  return random;
}

/** What programs expect to find beside the language itself. */
export function installGlobals(
  process: Process,
  timers: Timers,
  requests: Requests,
  uncaught: (error: unknown) => void,
): void {
  const started = host().now();
  const values = {
    AbortController,
    AbortSignal: withTimeout(timers),
    Buffer,
    Headers,
    Request,
    Response,
    TextDecoder,
    TextEncoder,
    URL,
    URLSearchParams,
    console: createConsole(),
    crypto,
    fetch: createFetch(requests),
    global: globalThis,
    performance: { now: () => host().now() - started, timeOrigin: Date.now() },
    process,
    queueMicrotask: (callback: () => unknown) => {
      if (typeof callback !== "function") throw new TypeError('The "callback" argument must be of type function');
      void Promise.resolve().then(callback).catch(uncaught);
    },
    structuredClone,
    atob: (text: string) => Buffer.from(String(text), "base64").toString("latin1"),
    btoa: (text: string) => Buffer.from(String(text), "latin1").toString("base64"),
    ...functionsOf(timers),
  };
  Object.defineProperty(Math, "random", { configurable: true, writable: true, value: createRandom() });
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(globalThis, name, { configurable: true, enumerable: false, writable: true, value });
  }
}
