import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Cut } from "../faults.js";
import type { LoggedRequest } from "../request-log.js";
import { HttpFailure } from "./http-failure.js";

const maxJsonBytes = 16 * 1024 * 1024;

/** One request and its answer, with whatever fault has been laid on it. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly method: string;
  readonly url: URL;
  readonly record: LoggedRequest;
  /** Aborted when the client is gone before the answer is complete, or a fault has cut the answer. */
  readonly signal: AbortSignal;
  readonly #response: ServerResponse;
  readonly #abort = new AbortController();
  readonly #cut: Cut | undefined;
  #sent = 0;
  #over = false;

  constructor(request: IncomingMessage, response: ServerResponse, url: URL, record: LoggedRequest, cut?: Cut) {
    this.request = request;
    this.method = request.method ?? "GET";
    this.url = url;
    this.record = record;
    this.signal = this.#abort.signal;
    this.#response = response;
    this.#cut = cut;
    response.on("close", () => {
      record.durationMs = Date.now() - record.at;
      record.aborted = !response.writableFinished;
      this.#over = true;
      this.#abort.abort();
    });
  }

  /** Path without the query, decoded nowhere. */
  get path(): string {
    return this.url.pathname;
  }

  get query(): URLSearchParams {
    return this.url.searchParams;
  }

  /** Whether the head of the answer has been sent. */
  get started(): boolean {
    return this.#response.headersSent;
  }

  /** A header of the request; the first one when it is repeated. */
  header(name: string): string | undefined {
    const value = this.request.headers[name.toLowerCase()];
    return Array.isArray(value) ? value[0] : value;
  }

  /** The body of the request, whole. @throws HttpFailure 413 */
  async body(maxBytes = maxJsonBytes): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of this.request) {
      size += chunk.length;
      if (size > maxBytes) throw new HttpFailure(413, `the body is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  /** The body of the request as JSON, `{}` when there is none. @throws HttpFailure 400 */
  async readJson<T>(): Promise<T> {
    const text = (await this.body()).toString("utf8");
    if (text.trim() === "") return {} as T;
    try {
      return JSON.parse(text);
    } catch {
      throw new HttpFailure(400, "the body of the request is not valid JSON");
    }
  }

  /** Sends the head of the answer; what follows may take its time. */
  start(status: number, headers: Readonly<Record<string, string | readonly string[]>> = {}): void {
    this.#head(status, headers);
    if (!this.#over) this.#response.flushHeaders();
  }

  /** Sends a part of the body, waiting while the client does not read; does nothing once the client is gone. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#over) return;
    const left = this.#cut === undefined ? Number.POSITIVE_INFINITY : this.#cut.afterBytes - this.#sent;
    const allowed = bytes.length < left ? bytes : bytes.subarray(0, left);
    this.#sent += allowed.length;
    const flows = allowed.length === 0 || this.#response.write(allowed);
    if (allowed.length === bytes.length && left > bytes.length) {
      if (!flows) await once(this.#response, "drain", { signal: this.signal }).catch(() => undefined);
    } else await this.#cutNow();
  }

  /** Ends the answer, after a last part of it if given. */
  async end(bytes?: Uint8Array): Promise<void> {
    if (bytes) await this.write(bytes);
    if (!this.#over) this.#response.end();
  }

  /** The whole answer as JSON. */
  async json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.bytes(status, Buffer.from(JSON.stringify(value)), { "content-type": "application/json", ...headers });
  }

  /** The whole answer at once; `undefined` for one without a body. */
  async bytes(
    status: number,
    body: Uint8Array | undefined,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const length: Record<string, string> =
      body === undefined && status === 204 ? {} : { "content-length": String(body?.length ?? 0) };
    this.#head(status, { ...headers, ...length });
    await this.end(body);
  }

  /** Breaks the connection. */
  destroy(): void {
    this.#over = true;
    this.#response.destroy();
    this.request.socket.destroy();
  }

  #head(status: number, headers: Readonly<Record<string, string | readonly string[]>>): void {
    this.record.status = status;
    if (this.#over) return;
    if (this.#cut?.afterBytes === 0 && this.#cut.how === "drop") {
      this.destroy();
      return;
    }
    const sent: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(headers)) {
      // An answer that ends early, yet cleanly, cannot announce its length.
      if (this.#cut && name.toLowerCase() === "content-length") continue;
      sent[name] = typeof value === "string" ? value : [...value];
    }
    this.#response.writeHead(status, sent);
  }

  async #cutNow(): Promise<void> {
    if (this.#cut?.how === "truncate") {
      this.#over = true;
      this.#response.end();
    } else {
      // What was to arrive before the break has to have left first.
      await new Promise((resolve) => setImmediate(resolve));
      this.destroy();
    }
    this.#abort.abort();
  }
}
