import { messageOf, SandboxError } from "@sandkit/core";
import type { Exchange } from "../../http/exchange.js";
import { type ConnectCode, ConnectFailure, statusOfCode } from "./connect-failure.js";

/** A method that takes a message and gives one. */
export type Unary = (request: never, call: ConnectCall) => Promise<unknown>;
/** A method that takes a message and gives many, by `send`, which waits while the client does not read. */
export type ServerStream = (request: never, call: ConnectCall, send: Send) => Promise<void>;
/** A method that takes many messages and gives one. */
export type ClientStream = (requests: AsyncIterable<never>, call: ConnectCall) => Promise<unknown>;

/** Sends one message of a stream. */
export type Send = (message: unknown) => Promise<void>;

/** What a method may want to know of its call. */
export interface ConnectCall {
  /** Aborted when the client is gone; or at its deadline, with a {@link ConnectFailure}. */
  readonly signal: AbortSignal;
  /** The client's deadline, in milliseconds; 0: none. */
  readonly timeoutMs: number;
  header(name: string): string | undefined;
}

const envelopeBytes = 5;
const endOfStream = 0x02;
const maxMessageBytes = 64 * 1024 * 1024;

/** Answers a unary call. */
export async function answerUnary(exchange: Exchange, method: Unary): Promise<void> {
  if (!exchange.header("content-type")?.startsWith("application/json")) return refuseMedia(exchange);
  const call = callOf(exchange);
  try {
    const request = await exchange.readJson<never>();
    await exchange.json(200, await method(request, call));
  } catch (error) {
    const { code, message } = toConnectFailure(error);
    await exchange.json(statusOfCode[code], { code, message });
  } finally {
    call.release();
  }
}

/** Answers a call whose answer is a stream. */
export async function answerServerStream(exchange: Exchange, method: ServerStream): Promise<void> {
  if (!exchange.header("content-type")?.startsWith("application/connect+json")) return refuseMedia(exchange);
  const call = callOf(exchange);
  const send: Send = (message) => exchange.write(envelope(0, message));
  try {
    const { value: request, done } = await messagesOf(exchange).next();
    if (done) throw new ConnectFailure("invalid_argument", "the request has no message");
    exchange.start(200, { "content-type": "application/connect+json" });
    await method(request, call, send);
    await exchange.end(envelope(endOfStream, {}));
  } catch (error) {
    await endWithFailure(exchange, error);
  } finally {
    call.release();
  }
}

/** Answers a call whose requests are a stream. */
export async function answerClientStream(exchange: Exchange, method: ClientStream): Promise<void> {
  if (!exchange.header("content-type")?.startsWith("application/connect+json")) return refuseMedia(exchange);
  const call = callOf(exchange);
  try {
    const answer = await method(messagesOf(exchange), call);
    exchange.start(200, { "content-type": "application/connect+json" });
    await exchange.write(envelope(0, answer));
    await exchange.end(envelope(endOfStream, {}));
  } catch (error) {
    await endWithFailure(exchange, error);
  } finally {
    call.release();
  }
}

async function endWithFailure(exchange: Exchange, error: unknown): Promise<void> {
  if (!exchange.started) exchange.start(200, { "content-type": "application/connect+json" });
  const { code, message } = toConnectFailure(error);
  await exchange.end(envelope(endOfStream, { error: { code, message } }));
}

async function refuseMedia(exchange: Exchange): Promise<void> {
  await exchange.bytes(415, undefined, { "accept-post": "application/json, application/connect+json" });
}

function callOf(exchange: Exchange): ConnectCall & { release(): void } {
  const header = exchange.header("connect-timeout-ms");
  const timeoutMs = header === undefined ? 0 : Number(header);
  const deadline = new AbortController();
  const expire = () => deadline.abort(new ConnectFailure("deadline_exceeded", "context deadline exceeded"));
  const timer = timeoutMs > 0 ? setTimeout(expire, timeoutMs) : undefined;
  return {
    signal: AbortSignal.any([exchange.signal, deadline.signal]),
    timeoutMs,
    header: (name) => exchange.header(name),
    release: () => clearTimeout(timer),
  };
}

async function* messagesOf(exchange: Exchange): AsyncGenerator<never> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of exchange.request) {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= envelopeBytes) {
      const end = envelopeBytes + bytes.readUInt32BE(1);
      if (end > maxMessageBytes) throw new ConnectFailure("resource_exhausted", "the message is too large");
      if (bytes.length < end) break;
      const flags = bytes.readUInt8(0);
      if (flags & 0x01) throw new ConnectFailure("unimplemented", "compressed messages are not taken here");
      if (!(flags & endOfStream)) yield parse(bytes.subarray(envelopeBytes, end));
      bytes = bytes.subarray(end);
    }
  }
}

function parse(bytes: Buffer): never {
  try {
    return JSON.parse(bytes.toString("utf8")) as never;
  } catch (cause) {
    throw new ConnectFailure("invalid_argument", "the message is not valid JSON", cause);
  }
}

function envelope(flags: number, message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(envelopeBytes);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

const codeOfSandboxError: Partial<Record<SandboxError["code"], ConnectCode>> = {
  FILE_NOT_FOUND: "not_found",
  FILE_EXISTS: "already_exists",
  IS_DIRECTORY: "invalid_argument",
  NOT_DIRECTORY: "invalid_argument",
  INVALID: "invalid_argument",
  PERMISSION: "permission_denied",
  NO_SPACE: "resource_exhausted",
  UNSUPPORTED: "unimplemented",
  NOT_FOUND: "unavailable",
  SANDBOX_LOST: "unavailable",
  EXPIRED: "unavailable",
};

function toConnectFailure(error: unknown): ConnectFailure {
  if (error instanceof ConnectFailure) return error;
  const code = error instanceof SandboxError ? (codeOfSandboxError[error.code] ?? "internal") : "internal";
  return new ConnectFailure(code, messageOf(error), error);
}
