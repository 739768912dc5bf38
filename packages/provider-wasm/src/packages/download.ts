import { type LookupAddress, lookup } from "node:dns";
import * as http from "node:http";
import * as https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { createGunzip } from "node:zlib";
import { messageOf } from "@sandkit/core";
import { isLoopback, isPublicAddress } from "./public-address.js";

/** What is fetched, and how much of it at most. */
export interface DownloadOptions {
  readonly maxBytes: number;
  readonly accept?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What came, and from where in the end. */
export interface Downloaded {
  readonly url: URL;
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Why something could not be fetched. */
export class DownloadError extends Error {
  override readonly name = "DownloadError";
  /** Of the answer, where there was one. */
  readonly status: number | undefined;
  /** Whether another try may go better. */
  readonly passing: boolean;

  constructor(message: string, details: { status?: number; passing?: boolean; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.passing = details.passing ?? false;
  }
}

const mostRedirects = 5;
const tries = 3;
const firstPauseMs = 300;
const mostAtOnce = 6;
const passingStatus = new Set([429, 500, 502, 503, 504]);

/**
 * Fetches from the hosts that were configured, and from what these name: by https, and then at public addresses alone,
 * so that no answer of an index can make this machine ask its own network.
 */
export class Downloader {
  /** Origins that may be anywhere, also on this machine. */
  readonly #trusted: ReadonlySet<string>;
  readonly #timeoutMs: number;
  readonly #agents = { "http:": new http.Agent({ keepAlive: true }), "https:": new https.Agent({ keepAlive: true }) };

  #underWay = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param timeoutMs Of one request, to its last byte. */
  constructor(configured: readonly URL[], timeoutMs: number) {
    this.#trusted = new Set(configured.map(({ origin }) => origin));
    this.#timeoutMs = timeoutMs;
  }

  /** @throws DownloadError, or the signal's reason */
  async get(url: URL, options: DownloadOptions): Promise<Downloaded> {
    if (this.#underWay >= mostAtOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#underWay += 1;
    try {
      options.signal?.throwIfAborted();
      return await this.#try(url, options);
    } finally {
      this.#underWay -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #try(url: URL, options: DownloadOptions): Promise<Downloaded> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#follow(url, options);
      } catch (error) {
        options.signal?.throwIfAborted();
        if (!(error instanceof DownloadError) || !error.passing || attempt === tries) throw error;
        await pause(firstPauseMs * attempt, undefined, { signal: options.signal });
      }
    }
  }

  async #follow(first: URL, options: DownloadOptions): Promise<Downloaded> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
    try {
      let url = first;
      for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
        const answer = await this.#ask(url, options, signal);
        if (!(answer instanceof URL)) return answer;
        url = answer;
      }
      throw new DownloadError(`${shown(first)} redirects more than ${mostRedirects} times`);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (timeout.aborted)
        throw new DownloadError(`${shown(first)} did not answer in full within ${this.#timeoutMs} ms`);
      if (error instanceof DownloadError) throw error;
      const passing = !(error instanceof RefusedAddress);
      throw new DownloadError(`${shown(first)}: ${reasonOf(error)}`, { passing, cause: error });
    }
  }

  /** One request: what came, or where it is said to be. */
  async #ask(url: URL, { accept = "*/*", maxBytes }: DownloadOptions, signal: AbortSignal): Promise<Downloaded | URL> {
    const trusted = this.#trusted.has(url.origin);
    checkPlace(url, trusted);
    const { get } = url.protocol === "https:" ? https : http;
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const request = get(
        url,
        {
          agent: url.protocol === "https:" ? this.#agents["https:"] : this.#agents["http:"],
          headers: { accept, "accept-encoding": "gzip", "user-agent": "sandkit" },
          signal,
          ...(!trusted && { lookup: publicLookup }),
        },
        resolve,
      );
      request.on("error", reject);
    });
    const { statusCode = 0, headers } = response;
    if (statusCode >= 300 && statusCode < 400 && headers.location !== undefined) {
      response.destroy();
      return target(url, headers.location);
    }
    if (statusCode !== 200) {
      response.destroy();
      const passing = passingStatus.has(statusCode);
      throw new DownloadError(`${shown(url)} answered ${statusCode}`, { status: statusCode, passing });
    }
    return { url, contentType: headers["content-type"] ?? "", bytes: await readBody(response, url, maxBytes, signal) };
  }
}

/** The address as people may see it: without a password. */
export function shown(url: URL): string {
  return url.origin + url.pathname;
}

/** A name that leads to an address at which nothing may be asked. */
class RefusedAddress extends Error {}

function checkPlace(url: URL, trusted: boolean): void {
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    throw new DownloadError(`${shown(url)} is refused: packages come by https alone`);
  }
  const literal = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const elsewhere = isIP(literal) ? isPublicAddress(literal) : !isLoopback(url.hostname);
  if (!trusted && !elsewhere) throw new DownloadError(`${shown(url)} is refused: it is no public address`);
}

/** Looks a name up and refuses it when any of its addresses is none of the public internet. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const [first] = addresses ?? [];
    const inside = addresses?.find(({ address }) => !isPublicAddress(address));
    if (error) callback(error, "");
    else if (inside || !first) callback(new RefusedAddress(`refused: ${hostname} leads to no public address`), "");
    else if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};

function target(from: URL, location: string): URL {
  try {
    return new URL(location, from);
  } catch (error) {
    throw new DownloadError(`${shown(from)} redirects to what is no address`, { cause: error });
  }
}

async function readBody(
  response: http.IncomingMessage,
  url: URL,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const collect = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > maxBytes) throw new DownloadError(`${shown(url)} is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  };
  const encoding = response.headers["content-encoding"] ?? "identity";
  if (encoding === "gzip") await pipeline(response, createGunzip(), collect, { signal });
  else if (encoding === "identity") await pipeline(response, collect, { signal });
  else throw new DownloadError(`${shown(url)} comes in an encoding that nobody asked for (${encoding})`);
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  const message = messageOf(error);
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}
