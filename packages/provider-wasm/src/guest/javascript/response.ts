import { Headers } from "../web/headers.js";
import { Buffer, decode, encode } from "./buffer.js";
import { customInspect, inspect } from "./inspect.js";

/** Gives the bytes of a body, one piece after another. */
export interface Pieces {
  next(): Promise<IteratorResult<Uint8Array, undefined>>;
  /** Leaves the rest. */
  return(): Promise<IteratorResult<Uint8Array, undefined>>;
  [Symbol.asyncIterator](): Pieces;
}

/** The body as a stream, in the ways in which programs read it: by a reader, and by `for await`. */
export class BodyStream {
  readonly #pieces: Pieces;
  locked = false;

  constructor(pieces: Pieces) {
    this.#pieces = pieces;
  }

  getReader() {
    if (this.locked) throw new TypeError("the stream is locked to a reader already");
    this.locked = true;
    const pieces = this.#pieces;
    return {
      async read(): Promise<{ done: boolean; value: Uint8Array | undefined }> {
        const { done = false, value } = await pieces.next();
        return { done, value: value ?? undefined };
      },
      cancel: () => this.cancel(),
      releaseLock: () => {
        this.locked = false;
      },
    };
  }

  async cancel(): Promise<void> {
    await this.#pieces.return();
  }

  [Symbol.asyncIterator](): Pieces {
    this.getReader();
    return this.#pieces;
  }
}

interface ResponseInit {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
}

/** What an answer of the network has that one of a program's own has not. */
export interface Answered extends ResponseInit {
  readonly url: string;
  readonly redirected: boolean;
  readonly pieces: Pieces;
}

const answered = Symbol("answered");
/** What nobody can read any more is not kept open. */
const unread = new FinalizationRegistry((pieces: Pieces) => void pieces.return());

/** The web's `Response`. */
export class Response {
  readonly type: string = "default";
  readonly url: string = "";
  readonly redirected: boolean = false;
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly #body: BodyStream | null;
  bodyUsed = false;

  constructor(body: unknown = null, init: ResponseInit & { readonly [answered]?: Answered } = {}) {
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? "";
    this.headers = new Headers(init.headers);
    const of = init[answered];
    if (of) Object.assign(this, { type: "basic", url: of.url, redirected: of.redirected });
    const own = body === null || body === undefined ? undefined : bodyBytes(body);
    if (own?.type !== undefined && !this.headers.has("content-type")) this.headers.set("content-type", own.type);
    const pieces = of?.pieces ?? (own && once(own.bytes));
    this.#body = pieces ? new BodyStream(pieces) : null;
  }

  /** One that the network has given. */
  static of(from: Answered): Response {
    const response = new Response(null, { ...from, [answered]: from });
    unread.register(response, from.pieces);
    return response;
  }

  static json(data: unknown, init: ResponseInit = {}): Response {
    const response = new Response(JSON.stringify(data), init);
    if (!new Headers(init.headers).has("content-type")) response.headers.set("content-type", "application/json");
    return response;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299;
  }

  get body(): BodyStream | null {
    return this.#body;
  }

  async bytes(): Promise<Uint8Array> {
    if (this.bodyUsed || this.#body?.locked) throw new TypeError("Body is unusable: Body has already been read");
    this.bodyUsed = this.#body !== null;
    const pieces: Uint8Array[] = [];
    if (this.#body) for await (const piece of this.#body) pieces.push(piece);
    const whole = Buffer.concat(pieces);
    return new Uint8Array(whole.buffer, whole.byteOffset, whole.byteLength);
  }

  async arrayBuffer(): Promise<ArrayBufferLike> {
    return (await this.bytes()).buffer;
  }

  async text(): Promise<string> {
    return decode(await this.bytes()) ?? "";
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  [customInspect](): string {
    const { status, statusText, ok, url, redirected, bodyUsed } = this;
    const headers = Object.fromEntries(this.headers);
    return `Response ${inspect({ status, statusText, ok, url, redirected, bodyUsed, headers })}`;
  }
}

/** The bytes of what may be a body, and the type that they are of. */
export function bodyBytes(body: unknown): { readonly bytes: Uint8Array; readonly type?: string } {
  if (body instanceof ArrayBuffer || body instanceof SharedArrayBuffer) return { bytes: new Uint8Array(body) };
  if (ArrayBuffer.isView(body)) return { bytes: new Uint8Array(body.buffer, body.byteOffset, body.byteLength) };
  if (typeof body === "object" && body !== null && Symbol.asyncIterator in body) {
    throw new TypeError("a body that streams is not available in this sandbox: give a string or bytes");
  }
  const isForm = body instanceof globalThis.URLSearchParams;
  const type = isForm ? "application/x-www-form-urlencoded;charset=UTF-8" : "text/plain;charset=UTF-8";
  return { bytes: encode(String(body)), type };
}

function once(bytes: Uint8Array): Pieces {
  let left: Uint8Array | undefined = bytes;
  return {
    async next() {
      const value = left;
      left = undefined;
      return value ? { done: false, value } : { done: true, value: undefined };
    },
    async return() {
      left = undefined;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
