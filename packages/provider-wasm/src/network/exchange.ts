import type { Agent, ClientRequest, IncomingMessage } from "node:http";
import * as http from "node:http";
import * as https from "node:https";
import { type AllowList, deferred } from "@sandkit/core";
import type { Slots } from "@sandkit/core/kit";
import { bare, failureOf, type GuardedLookups, NetworkError } from "@sandkit/core/network";
import { decodedBody } from "./decoded-body.js";
import { bodyWindow, type GuestRequest, type RequestNews, type ResponseHead } from "./messages.js";
import { planRequest, type RequestPlan } from "./plan-request.js";

/** What bounds each request. */
export interface ExchangeLimits {
  /** To a connection that can be written to: name, TCP and TLS. */
  readonly connectMs: number;
  /** Without a byte from the host, while its reader waits. */
  readonly idleMs: number;
  /** For its turn, while other requests of the sandbox are under way. */
  readonly queueMs: number;
  /** Of one body, in each direction, decoded where that was asked for. */
  readonly maxBodyBytes: number;
}

/** What the requests of one sandbox share. */
export interface ExchangeContext {
  readonly allowList: AllowList;
  readonly turns: Slots;
  readonly limits: ExchangeLimits;
  readonly lookup: GuardedLookups;
  /** One that keeps connections for the next request, or one that does not. */
  agent(secure: boolean, keeps: boolean): Agent;
}

/** Who is told what becomes of a request. */
export interface ExchangeListener {
  news(news: RequestNews): void;
  /** So many bytes of its body have been taken. */
  sent(bytes: number): void;
}

const longestPiece = 64 * 1024;

/** One request and its answer. Redirects are answers as others: who follows one asks anew. */
export class Exchange {
  readonly #request: GuestRequest;
  readonly #context: ExchangeContext;
  readonly #listener: ExchangeListener;
  readonly #abort = new AbortController();
  readonly #connection = deferred<ClientRequest>();
  #sending: Promise<void> = Promise.resolve();
  #sent = 0;
  #connected = false;
  #answered = false;
  #received = 0;
  /** Bytes of the answer that were told and are not taken. */
  #untaken = 0;
  #resume: (() => void) | undefined;

  constructor(request: GuestRequest, context: ExchangeContext, listener: ExchangeListener) {
    this.#request = request;
    this.#context = context;
    this.#listener = listener;
    this.#connection.promise.catch(() => undefined);
  }

  /** Does it all. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#abort;
    let host = "request";
    try {
      const plan = planRequest(this.#request, this.#context.allowList);
      host = bare(plan.url.hostname);
      const free = await this.#takeTurn(host);
      try {
        await this.#perform(plan);
      } finally {
        free();
      }
    } catch (error) {
      const failure = failureOf(signal.aborted ? signal.reason : error, host);
      this.#listener.news({ error: failure });
    } finally {
      this.#abort.abort();
      this.#connection.reject(new Error("the request is over"));
    }
  }

  /** Takes a piece of the body. */
  send(bytes: Uint8Array, last: boolean): void {
    const { bodyBytes } = this.#request;
    this.#sent += bytes.length;
    const wrongLength =
      bodyBytes !== null && bodyBytes >= 0 && (this.#sent > bodyBytes || (last && this.#sent < bodyBytes));
    if (bodyBytes === null || wrongLength) this.#fail("EINVAL", "the body is not of the length that was told");
    if (this.#sent > this.#context.limits.maxBodyBytes) this.#fail("EFBIG", this.#tooLarge("body"));
    this.#sending = this.#sending.then(() => this.#write(bytes, last));
  }

  /** The guest has taken so many bytes of the answer. */
  taken(bytes: number): void {
    this.#untaken -= bytes;
    if (this.#untaken < bodyWindow) this.#resume?.();
  }

  /** Ends it, whatever it is at. */
  close(): void {
    this.#fail("ECONNRESET", "the request was closed");
  }

  #fail(code: NetworkError["code"], message: string): void {
    this.#abort.abort(new NetworkError(code, message));
    this.#resume?.();
  }

  async #takeTurn(host: string): Promise<() => void> {
    const { turns, limits } = this.#context;
    const timer = setTimeout(() => {
      this.#fail(
        "EBUSY",
        `${host}: other requests of this sandbox did not end within ${limits.queueMs} ms: close them`,
      );
    }, limits.queueMs);
    try {
      return await turns.take(this.#abort.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  async #perform(plan: RequestPlan): Promise<void> {
    const { response, request } = await this.#answer(plan);
    this.#answered = true;
    this.#listener.news({ head: headOf(response, plan.url) });
    for await (const chunk of decodedBody(response, plan)) await this.#deliver(chunk as Buffer, request);
    if (!response.complete) throw new NetworkError("ECONNRESET", `${plan.url.hostname}: the answer is incomplete`);
    this.#listener.news({ end: true });
    // What is left of a body that its host did not want is not waited for.
    if (!request.writableFinished) request.destroy();
  }

  async #answer(plan: RequestPlan): Promise<{ response: IncomingMessage; request: ClientRequest }> {
    // Only one without a body can be made again, where a kept connection turns out to be closed.
    const bodiless = plan.bodyBytes === null;
    const first = this.#start(plan, bodiless);
    try {
      return { response: await responseOf(first), request: first };
    } catch (error) {
      const stale = first.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (!stale || !bodiless || this.#abort.signal.aborted) throw error;
    }
    const second = this.#start(plan, false);
    return { response: await responseOf(second), request: second };
  }

  #start(plan: RequestPlan, keeps: boolean): ClientRequest {
    const { url, method, headers, bodyBytes, scope, decode } = plan;
    const { limits } = this.#context;
    const secure = url.protocol === "https:";
    const host = bare(url.hostname);
    const request = (secure ? https : http).request({
      hostname: host,
      port: url.port === "" ? undefined : Number(url.port),
      path: url.pathname + url.search,
      method,
      headers: {
        ...(decode && !has(headers, "accept-encoding") && { "Accept-Encoding": "gzip, deflate, br" }),
        ...headers,
      },
      agent: this.#context.agent(secure, keeps),
      signal: this.#abort.signal,
      ...(scope !== "itself" && { lookup: this.#context.lookup(scope) }),
    });
    if (bodyBytes !== null) {
      if (bodyBytes >= 0) request.setHeader("Content-Length", bodyBytes);
      else request.setHeader("Transfer-Encoding", "chunked");
    }
    const timer = setTimeout(() => {
      this.#fail("ETIMEDOUT", `${host}: no connection within ${limits.connectMs} ms`);
    }, limits.connectMs);
    const connected = () => {
      clearTimeout(timer);
      this.#connection.resolve(request);
      // Once, also where a kept connection turns out to be closed and another is made.
      if (!this.#connected) this.#listener.news({ connected: true });
      this.#connected = true;
    };
    request.once("close", () => clearTimeout(timer));
    request.once("socket", (socket) => {
      if (socket.connecting) socket.once(secure ? "secureConnect" : "connect", connected);
      else connected();
    });
    request.setTimeout(limits.idleMs, () => {
      if (!this.#resume) this.#fail("ETIMEDOUT", `${host}: nothing came for ${limits.idleMs} ms`);
    });
    if (bodyBytes === null) request.end();
    return request;
  }

  async #write(bytes: Uint8Array, last: boolean): Promise<void> {
    try {
      const request = await this.#connection.promise;
      if (!this.#answered) {
        if (bytes.length > 0 && !request.write(bytes)) await drained(request);
        if (last) request.end();
      }
    } catch {
      // Whatever ended the request is told as its end; what is left of its body goes nowhere.
    }
    this.#listener.sent(bytes.length);
  }

  async #deliver(chunk: Buffer, request: ClientRequest): Promise<void> {
    this.#received += chunk.length;
    if (this.#received > this.#context.limits.maxBodyBytes) this.#fail("EFBIG", this.#tooLarge("answer"));
    for (let start = 0; start < chunk.length; start += longestPiece) {
      this.#abort.signal.throwIfAborted();
      const bytes = chunk.subarray(start, start + longestPiece);
      this.#untaken += bytes.length;
      this.#listener.news({ bytes });
    }
    this.#abort.signal.throwIfAborted();
    if (this.#untaken < bodyWindow) return;
    await new Promise<void>((resolve) => {
      this.#resume = resolve;
    });
    this.#resume = undefined;
    // It stood still for as long as its reader did.
    request.setTimeout(this.#context.limits.idleMs);
    this.#abort.signal.throwIfAborted();
  }

  #tooLarge(what: "body" | "answer"): string {
    return `the ${what} is larger than ${this.#context.limits.maxBodyBytes} bytes, which is the most`;
  }
}

function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
    request.once("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new NetworkError("EPROTO", "the host wants another protocol than HTTP"));
    });
    // After the answer it is the body that fails.
    request.on("error", () => undefined);
  });
}

/** Resolves when the request takes more, or never will. */
function drained(request: ClientRequest): Promise<void> {
  const events = ["drain", "close", "response"];
  return new Promise((resolve) => {
    const done = () => {
      for (const event of events) request.off(event, done);
      resolve();
    };
    for (const event of events) request.on(event, done);
  });
}

function headOf(response: IncomingMessage, url: URL): ResponseHead {
  const { statusCode = 0, statusMessage = "", rawHeaders } = response;
  const headers: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.push([rawHeaders[index] ?? "", rawHeaders[index + 1] ?? ""]);
  }
  return { status: statusCode, reason: statusMessage, headers, url: url.href, location: locationOf(response, url) };
}

function locationOf({ statusCode = 0, headers: { location } }: IncomingMessage, url: URL): string | undefined {
  if (statusCode < 300 || statusCode > 399 || location === undefined || !URL.canParse(location, url.href))
    return undefined;
  const target = new URL(location, url);
  // A part of the page goes along, as browsers have it.
  if (target.hash === "") target.hash = url.hash;
  return target.href;
}

function has(headers: Readonly<Record<string, unknown>>, wanted: string): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === wanted);
}
