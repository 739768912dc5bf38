import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { NetworkErrno, NetworkFailure } from "./network-error.js";

/** An answer of the proxy itself, in the place of a host's. */
export interface Refusal {
  readonly status: number;
  /** As clients show it, some of which show nothing else. */
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** By code: the status, and the error of `Proxy-Status` (RFC 9209). */
const answers: Readonly<Record<NetworkErrno, readonly [status: number, error: string]>> = {
  EACCES: [403, "http_request_denied"],
  EFBIG: [403, "http_request_denied"],
  EINVAL: [400, "http_request_error"],
  ENOTFOUND: [502, "dns_error"],
  ECONNREFUSED: [502, "connection_refused"],
  ECONNRESET: [502, "connection_terminated"],
  EHOSTUNREACH: [502, "destination_ip_unroutable"],
  EPROTO: [502, "http_protocol_error"],
  ETIMEDOUT: [504, "connection_timeout"],
  EBUSY: [503, "connection_limit_reached"],
};
const longestStatusText = 250;

/** What a client is answered in the place of what failed. */
export function refusalOf({ code, message }: NetworkFailure): Refusal {
  const [status, error] = answers[code];
  const ascii = message.replace(/[^\x20-\x7e]/g, "?");
  return {
    status,
    statusText: `${STATUS_CODES[status]}: ${ascii}`.slice(0, longestStatusText),
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      "Proxy-Status": `sandkit; error=${error}; details="${ascii.replace(/["\\]/g, "\\$&")}"`,
    },
    body: `${message}\n`,
  };
}

/** The whole answer as text, after which the connection ends. */
export function refusalText(failure: NetworkFailure): string {
  const { status, statusText, headers, body } = refusalOf(failure);
  const lines = Object.entries({
    ...headers,
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${statusText}\r\n${lines.join("")}\r\n${body}`;
}

/** How long a client has to take the last that it is told. */
const lastWordsMs = 1_000;

/** Ends a connection with a last word, and destroys it when that is taken. */
export function endWith(connection: Duplex, lastWord: string | Uint8Array): void {
  linger(connection);
  if (connection.writable) connection.end(lastWord);
  else connection.destroy();
}

/** Destroys a connection that has ended once its client has ended too, or was given the time to. */
export function linger(connection: Duplex): void {
  const timer = setTimeout(() => connection.destroy(), lastWordsMs);
  timer.unref();
  connection.once("close", () => clearTimeout(timer));
  // Unread bytes of the client would have its system throw away what it was told.
  connection.resume();
}
