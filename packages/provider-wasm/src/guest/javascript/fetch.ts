import type { ResponseHead } from "../../network/messages.js";
import { Headers } from "../web/headers.js";
import { type Hop, nextHop } from "../web/redirects.js";
import type { AbortSignal } from "./abort.js";
import type { Requests } from "./requests.js";
import { bodyBytes, type Pieces, Response } from "./response.js";

interface RequestInit {
  readonly method?: string;
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  readonly body?: unknown;
  readonly redirect?: "follow" | "manual" | "error";
  readonly signal?: AbortSignal | null;
}

const mostRedirects = 20;
const normalMethods = new Set(["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]);
const withoutBody = new Set([101, 204, 205, 304]);

/** The web's `Request`, as far as `fetch` takes one. */
export class Request {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly redirect: "follow" | "manual" | "error";
  readonly signal: AbortSignal | undefined;
  /** Not the web's, whose bodies are streams. */
  readonly bytes: Uint8Array | null;

  constructor(input: unknown, init: RequestInit = {}) {
    const from = input instanceof Request ? input : undefined;
    const method = String(init.method ?? from?.method ?? "GET");
    this.url = from?.url ?? new globalThis.URL(String(input)).href;
    this.method = normalMethods.has(method.toUpperCase()) ? method.toUpperCase() : method;
    this.headers = new Headers(init.headers ?? from?.headers);
    this.redirect = init.redirect ?? from?.redirect ?? "follow";
    this.signal = init.signal ?? from?.signal ?? undefined;
    const body = init.body === undefined || init.body === null ? undefined : bodyBytes(init.body);
    if (body && ["GET", "HEAD"].includes(this.method)) {
      throw new TypeError("Request with GET/HEAD method cannot have body.");
    }
    this.bytes = body?.bytes ?? from?.bytes ?? null;
    if (body?.type !== undefined && !this.headers.has("content-type")) this.headers.set("content-type", body.type);
  }
}

/** The web's `fetch`, over the requests of this interpreter. */
export function createFetch(requests: Requests): (input: unknown, init?: RequestInit) => Promise<Response> {
  // As a method it keeps its name.
  const methods = { fetch: async (input: unknown, init?: RequestInit) => follow(requests, new Request(input, init)) };
  return methods.fetch;
}

/** Asks, and asks again where that sends it. */
async function follow(requests: Requests, request: Request): Promise<Response> {
  const { method, headers, bytes: body, signal, redirect } = request;
  if (!headers.has("accept")) headers.set("accept", "*/*");
  if (!headers.has("user-agent")) headers.set("user-agent", "node");
  let hop: Hop = { method, url: request.url, headers, body };
  for (let redirects = 0; ; redirects += 1) {
    const { head, pieces } = await ask(requests, hop, signal);
    const next = redirect === "manual" ? undefined : nextHop(hop, head);
    if (!next) return responseOf(head, pieces, hop, redirects > 0);
    await pieces.return();
    if (redirect === "error") throw new TypeError(`fetch failed: ${head.url} redirects`);
    if (redirects === mostRedirects) throw new TypeError("fetch failed: redirect count exceeded");
    hop = next;
  }
}

async function ask(
  requests: Requests,
  { method, url, headers, body }: Hop,
  signal: AbortSignal | undefined,
): Promise<{ head: ResponseHead; pieces: Pieces }> {
  signal?.throwIfAborted();
  const id = requests.open({ method, url, headers: [...headers], bodyBytes: body?.length ?? null, decode: true });
  const onAbort = () => requests.close(id, signal?.reason);
  signal?.addEventListener("abort", onAbort);
  const done = () => signal?.removeEventListener("abort", onAbort);
  try {
    if (body) requests.send(id, body);
    for (;;) {
      const told = await requests.next(id);
      if ("head" in told) return { head: told.head, pieces: read(requests, id, signal, done) };
    }
  } catch (error) {
    done();
    throw error;
  }
}

/** The pieces of a body. Left off, or never begun, its request is closed. */
function read(requests: Requests, id: number, signal: AbortSignal | undefined, onEnd: () => void): Pieces {
  let isOver = false;
  const end = () => {
    isOver = true;
    onEnd();
    return { done: true, value: undefined } as const;
  };
  return {
    async next() {
      if (isOver) return end();
      try {
        signal?.throwIfAborted();
        const told = await requests.next(id);
        return "bytes" in told ? { done: false, value: told.bytes } : end();
      } catch (error) {
        end();
        throw error;
      }
    },
    async return() {
      if (!isOver) requests.close(id, new Error("the body was left off"));
      return end();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function responseOf(head: ResponseHead, pieces: Pieces, { method }: Hop, redirected: boolean): Response {
  const { status, reason: statusText, headers, url } = head;
  const response = Response.of({ status, statusText, headers, url, redirected, pieces });
  // Nobody reads a body that there is none of: its request is to end all the same.
  if (method === "HEAD" || withoutBody.has(status)) void pieces.next();
  return response;
}
