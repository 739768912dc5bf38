import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { createGunzip } from "node:zlib";
import { messageOf } from "@sandkit/core";
import PQueue from "p-queue";
import { type Dispatcher, request } from "undici";
import { type Budget, OverBudget } from "./budget.js";
import { DownloadError } from "./download-error.js";
import { RefusedAddress, Routes } from "./routes.js";
import { authorizationOf, shown, withoutCredentials } from "./web-address.js";

/** What is fetched, and how much of it at most. */
export interface DownloadOptions {
  readonly maxBytes: number;
  readonly accept?: string | undefined;
  readonly budget: Budget;
  readonly signal: AbortSignal;
}

/** What came, and from where in the end. */
export interface Downloaded {
  readonly url: URL;
  readonly contentType: string;
  readonly bytes: Buffer;
}

const mostRedirects = 5;
const tries = 3;
const firstPauseMs = 300;
const longestPauseMs = 30_000;
const mostAtOnce = 12;
/** One answer may take so many times as long as a host may be silent. */
const totalFactor = 10;
const passingStatus = new Set([429, 500, 502, 503, 504]);

/**
 * Fetches from the hosts that were configured, and from what these name: by https, and then at public addresses alone,
 * so that no answer of an index can make this machine ask its own network.
 */
export class Downloader {
  readonly #routes: Routes;
  readonly #timeoutMs: number;
  /** By origin: no other host ever gets them. */
  readonly #authorizations = new Map<string, string>();
  readonly #queue = new PQueue({ concurrency: mostAtOnce });

  /**
   * @param configured Addresses whose hosts may be anywhere, also on this machine; with their credentials.
   * @param timeoutMs How long a host may be silent.
   */
  constructor(configured: readonly URL[], timeoutMs: number) {
    this.#routes = new Routes(configured.map(({ origin }) => origin));
    this.#timeoutMs = timeoutMs;
    for (const url of configured) {
      const authorization = authorizationOf(url);
      if (authorization !== undefined) this.#authorizations.set(url.origin, authorization);
    }
  }

  /** @throws DownloadError, OverBudget, or the signal's reason */
  async get(url: URL, options: DownloadOptions): Promise<Downloaded> {
    const { signal } = options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#queue.add(() => this.#follow(withoutCredentials(url), options), { signal });
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof DownloadError) || !error.passing || attempt === tries) throw error;
        const pauseMs = Math.max(firstPauseMs * attempt, error.retryAfterMs);
        if (pauseMs > longestPauseMs) throw error;
        await pause(pauseMs, undefined, { signal });
      }
    }
  }

  async #follow(first: URL, options: DownloadOptions): Promise<Downloaded> {
    const totalMs = this.#timeoutMs * totalFactor;
    const timeout = AbortSignal.timeout(totalMs);
    const signal = AbortSignal.any([options.signal, timeout]);
    try {
      let url = first;
      for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
        const answer = await this.#ask(url, { ...options, signal });
        if (!(answer instanceof URL)) return answer;
        url = answer;
      }
      throw new DownloadError(`${shown(first)} redirects more than ${mostRedirects} times`);
    } catch (error) {
      options.signal.throwIfAborted();
      if (error instanceof DownloadError || error instanceof OverBudget) throw error;
      if (timeout.aborted) throw new DownloadError(`${shown(first)} did not answer in full within ${totalMs} ms`);
      throw this.#failure(first, error);
    }
  }

  #failure(url: URL, error: unknown): DownloadError {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && /^UND_ERR_(?:HEADERS|BODY|CONNECT)_TIMEOUT$/.test(code)) {
      return new DownloadError(`${shown(url)} was silent for ${this.#timeoutMs} ms`, { cause: error });
    }
    const message = messageOf(error);
    const reason = code === undefined || message.includes(code) ? message : `${message} (${code})`;
    const passing = !(error instanceof RefusedAddress);
    return new DownloadError(`${shown(url)}: ${reason}`, { passing, cause: error });
  }

  /** One request: what came, or where it is said to be. */
  async #ask(url: URL, options: DownloadOptions): Promise<Downloaded | URL> {
    const { accept = "*/*", budget, signal } = options;
    const dispatcher = this.#routes.to(url);
    budget.countRequest();
    const authorization = this.#authorizations.get(url.origin);
    const response = await request(url, {
      dispatcher,
      signal,
      headersTimeout: this.#timeoutMs,
      bodyTimeout: this.#timeoutMs,
      headers: {
        accept,
        "accept-encoding": "gzip",
        "user-agent": "sandkit",
        ...(authorization !== undefined && { authorization }),
      },
    });
    const { statusCode, headers } = response;
    if (statusCode === 200) {
      return { url, contentType: textOf(headers["content-type"]), bytes: await readBody(response, url, options) };
    }
    drop(response);
    const location = textOf(headers.location);
    if (statusCode >= 300 && statusCode < 400 && location !== "") return target(url, location);
    throw new DownloadError(`${shown(url)} answered ${statusCode}`, {
      status: statusCode,
      passing: passingStatus.has(statusCode),
      retryAfterMs: pauseAskedFor(textOf(headers["retry-after"])),
    });
  }
}

function textOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? "";
}

/** In seconds, or as a date. */
function pauseAskedFor(text: string): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(ms, 0);
}

function target(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href)) throw new DownloadError(`${shown(from)} redirects to what is no address`);
  return withoutCredentials(new URL(location, from));
}

/** Whatever else comes is not read. */
function drop({ body }: Dispatcher.ResponseData): void {
  body.on("error", () => undefined).destroy();
}

async function readBody(
  { body, headers }: Dispatcher.ResponseData,
  url: URL,
  { maxBytes, budget, signal }: DownloadOptions,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  let refused: unknown;
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) throw new DownloadError(`${shown(url)} is larger than ${maxBytes} bytes`);
    budget.countBytes(chunk.length);
    chunks.push(chunk);
  };
  const collect = async (source: AsyncIterable<Buffer>) => {
    try {
      for await (const chunk of source) take(chunk);
    } catch (error) {
      refused = error;
      throw error;
    }
  };
  const encoding = textOf(headers["content-encoding"]) || "identity";
  if (encoding === "gzip") {
    await pipeline(body, createGunzip(), collect, { signal }).catch((error: unknown) => {
      // Of several streams the pipeline may tell that one was aborted, and not why.
      throw refused ?? error;
    });
  } else if (encoding === "identity") await pipeline(body, collect, { signal });
  else {
    body.on("error", () => undefined).destroy();
    throw new DownloadError(`${shown(url)} comes in an encoding that nobody asked for (${encoding})`);
  }
  return Buffer.concat(chunks);
}
