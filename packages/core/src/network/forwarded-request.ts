import type { Agent, IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { AddressScope } from "./allow-list.js";
import { type Asked, askHost } from "./ask-host.js";
import type { OpenContact } from "./contact.js";
import type { EgressContext } from "./egress-context.js";
import { failureOf, NetworkError, type NetworkFailure, refuses } from "./network-error.js";
import { endToEnd, headBytes, type PlainRequest, plainRequest, targetOfRequest } from "./plain-request.js";
import { refusalOf } from "./refusal.js";
import type { Target } from "./target.js";

/** Where connections with hosts come from: one that keeps them for the next request, and one that does not. */
export interface HostAgents {
  readonly kept: Agent;
  readonly single: Agent;
}

/** Those that can be made again, where a kept connection turns out to be closed. */
const repeatable = new Set(["GET", "HEAD", "OPTIONS"]);

/** One request in the clear and its answer. Redirects are answers as others: who follows one asks anew. */
export class ForwardedRequest {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #context: EgressContext;
  readonly #agents: HostAgents;
  readonly #stop = new AbortController();

  constructor(request: IncomingMessage, response: ServerResponse, context: EgressContext, agents: HostAgents) {
    this.#request = request;
    this.#response = response;
    this.#context = context;
    this.#agents = agents;
  }

  /** Serves it to the end of its answer. Never rejects. */
  async run(tunnel: Target | undefined): Promise<void> {
    const { book, limits } = this.#context;
    let contact: OpenContact | undefined;
    const { signal } = this.#stop;
    const idle = setTimeout(() => this.#fail("ETIMEDOUT", `nothing came for ${limits.idleMs} ms`), limits.idleMs);
    idle.unref();
    this.#response.once("close", () => {
      if (!this.#response.writableFinished) this.#fail("ECONNRESET", "the client has gone");
    });
    let host = "request";
    try {
      const target = targetOfRequest(this.#request, tunnel);
      host = target.host;
      contact = book.open({ host, port: target.port }, "http");
      contact.signal.addEventListener("abort", () => this.#fail("EFBIG", String(contact?.signal.reason)));
      await this.#exchange(plainRequest(this.#request, target), contact, idle);
      contact.end();
    } catch (error) {
      const failure = failureOf(signal.aborted ? signal.reason : error, host);
      if (refuses(failure)) contact?.refuse(failure.message);
      else contact?.end(failure.message);
      this.#answer(failure);
    } finally {
      clearTimeout(idle);
    }
  }

  /** Gives it up, because what came of it is no request. */
  reject(message: string): void {
    this.#fail("EINVAL", message);
  }

  #fail(code: NetworkError["code"], message: string): void {
    this.#stop.abort(new NetworkError(code, message));
  }

  async #exchange(plain: PlainRequest, contact: OpenContact, idle: NodeJS.Timeout): Promise<void> {
    const { judge, book } = this.#context;
    if (book.exhausted !== undefined) throw new NetworkError("EFBIG", book.exhausted);
    const scope = judge.admit(plain.target);
    const { asked, answer } = await this.#answerOf(plain, scope, contact, idle);
    if (answer.socket) {
      answer.socket.stream.destroy();
      throw new NetworkError("EPROTO", `${plain.target.host}: it wants another protocol, which nobody asked for`);
    }
    const { statusCode = 502, statusMessage, rawHeaders } = answer.response;
    contact.received(headBytes(rawHeaders));
    answer.response.on("data", (chunk: Buffer) => {
      idle.refresh();
      contact.received(chunk.length);
    });
    this.#response.sendDate = false;
    this.#response.writeHead(statusCode, statusMessage, endToEnd(rawHeaders).flat());
    await pipeline(answer.response, this.#response, { signal: this.#stop.signal });
    // What is left of a body that its host did not want goes nowhere.
    if (!asked.request.writableFinished) asked.request.destroy();
    if (plain.hasBody) this.#request.unpipe().resume();
  }

  async #answerOf(plain: PlainRequest, scope: AddressScope, contact: OpenContact, idle: NodeJS.Timeout) {
    const { kept, single } = this.#agents;
    const keeps = !plain.hasBody && repeatable.has(this.#request.method ?? "");
    const first = this.#ask(plain, scope, keeps ? kept : single, contact);
    if (plain.hasBody) {
      this.#request.on("data", (chunk: Buffer) => {
        idle.refresh();
        contact.sent(chunk.length);
      });
      this.#request.pipe(first.request);
    } else first.request.end();
    try {
      return { asked: first, answer: await first.answer };
    } catch (error) {
      const stale = first.request.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET";
      if (!stale || !keeps || this.#stop.signal.aborted) throw error;
    }
    const second = this.#ask(plain, scope, single, contact);
    second.request.end();
    return { asked: second, answer: await second.answer };
  }

  #ask(plain: PlainRequest, scope: AddressScope, agent: Agent, contact: OpenContact): Asked {
    const { signal } = this.#stop;
    signal.throwIfAborted();
    const asked = askHost(plain, { method: this.#request.method ?? "GET", scope, agent }, this.#context);
    signal.addEventListener("abort", () => asked.request.destroy(signal.reason), { once: true });
    asked.request.once("finish", () => contact.sent(headBytes(plain.headers)));
    return asked;
  }

  /** Tells the client of a failure, in the place of an answer or by the end of the connection. */
  #answer(failure: NetworkFailure): void {
    if (this.#response.headersSent || this.#response.destroyed) {
      this.#response.destroy();
      return;
    }
    const { status, statusText, headers, body } = refusalOf(failure);
    // A body that nobody reads is not waited for.
    if (!this.#request.complete) this.#response.setHeader("Connection", "close");
    this.#request.unpipe().resume();
    this.#response.writeHead(status, statusText, { ...headers, "Content-Length": Buffer.byteLength(body) }).end(body);
  }
}
