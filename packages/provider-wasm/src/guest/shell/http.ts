import type { ResolvedCommandContext } from "just-bash";
import type { GuestRequest, NetworkErrno, NetworkFailure, ResponseHead } from "../../network/messages.js";
import { type Hop, nextHop } from "../web/redirects.js";
import { ask, chunkBytes } from "./broker.js";

type News =
  | number
  | { readonly connected: true }
  | { readonly head: ResponseHead }
  | { readonly end: true }
  | { readonly error: NetworkFailure }
  | null;

/** How long to wait for news before other commands of the shell, such as `timeout`, get their turn. */
const sliceMs = 25;

/** A failure with the exit code that `curl` has for it. */
export class TransferFailure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

const exitCodes: Readonly<Record<NetworkErrno, number>> = {
  EACCES: 7,
  EINVAL: 3,
  ENOTFOUND: 6,
  ECONNREFUSED: 7,
  ECONNRESET: 56,
  EHOSTUNREACH: 7,
  ETIMEDOUT: 28,
  EPROTO: 35,
  EFBIG: 63,
  EBUSY: 7,
};

/** How a transfer is done. */
export interface TransferOptions {
  readonly followsRedirects: boolean;
  readonly mostRedirects: number;
  /** Whether the content encoding is taken off. */
  readonly decode: boolean;
  /** When it has to be done, by the clock of `Date.now`. */
  readonly deadline: number | undefined;
  readonly signal: ResolvedCommandContext["signal"];
}

/** What takes an answer. */
export interface TransferTarget {
  /** Of each answer, also of those that redirect. */
  head(head: ResponseHead, isLast: boolean): Promise<void>;
  body(bytes: Uint8Array): Promise<void>;
}

/** Makes a request and gives its answer to the target. @throws TransferFailure */
export async function transfer(first: Hop, options: TransferOptions, target: TransferTarget): Promise<ResponseHead> {
  let hop = first;
  for (let redirects = 0; ; redirects += 1) {
    const id = open(hop, options.decode);
    try {
      const head = await headOf(id, options);
      const next = options.followsRedirects ? nextHop(hop, head) : undefined;
      await target.head(head, !next);
      if (!next) {
        await bodyOf(id, options, target);
        return head;
      }
      if (redirects >= options.mostRedirects) {
        throw new TransferFailure(47, `Maximum (${options.mostRedirects}) redirects followed`);
      }
      hop = next;
    } finally {
      ask("http.close", [id]);
    }
  }
}

function open({ method, url, headers, body }: Hop, decode: boolean): number {
  const request: GuestRequest = { method, url, headers: [...headers], bodyBytes: body?.length ?? null, decode };
  const opened = ask<{ request: number } | { error: NetworkFailure }>("http.open", [request]);
  if ("error" in opened) throw failed(opened.error);
  const { request: id } = opened;
  for (let start = 0; body && (start === 0 || start < body.length); start += chunkBytes) {
    ask("http.send", [id, start + chunkBytes >= body.length], body.subarray(start, start + chunkBytes), true);
  }
  return id;
}

async function headOf(id: number, options: TransferOptions): Promise<ResponseHead> {
  for (;;) {
    const news = await next(id, options);
    if (typeof news === "object" && "head" in news) return news.head;
  }
}

async function bodyOf(id: number, options: TransferOptions, target: TransferTarget): Promise<void> {
  const area = new Uint8Array(chunkBytes);
  for (;;) {
    const news = await next(id, options, area);
    if (typeof news !== "number") return;
    await target.body(area.slice(0, news));
  }
}

async function next(id: number, { deadline, signal }: TransferOptions, area?: Uint8Array): Promise<NonNullable<News>> {
  for (;;) {
    const news = ask<News>("http.take", [id, sliceMs, area?.length ?? 0], area);
    if (news !== null) {
      if (typeof news === "object" && "error" in news) throw failed(news.error);
      return news;
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (signal?.aborted) throw new TransferFailure(28, "Operation was ended");
    if (deadline !== undefined && Date.now() >= deadline) throw new TransferFailure(28, "Operation timed out");
  }
}

function failed({ code, message }: NetworkFailure): TransferFailure {
  return new TransferFailure(/certificate|CERT/.test(message) && code === "EPROTO" ? 60 : exitCodes[code], message);
}
