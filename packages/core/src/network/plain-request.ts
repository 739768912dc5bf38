import type { IncomingMessage } from "node:http";
import { NetworkError } from "./network-error.js";
import { parseTarget, type Target } from "./target.js";

/** A request in the clear, as it may be made of a host. */
export interface PlainRequest {
  readonly target: Target;
  readonly path: string;
  /** Names and values in turn, without those of the client's connection. */
  readonly headers: readonly string[];
  readonly hasBody: boolean;
}

const absoluteForm = /^http:\/\/(?<authority>[^/?#]*)(?<path>[/?][^#]*)?$/i;
const mostHeaders = 256;
const refusedMethods = new Set(["CONNECT", "TRACE"]);
/** Of one connection, or of the proxy. */
const hopByHop = new Set([
  ...["connection", "proxy-connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"],
  ...["http2-settings", "expect", "proxy-authenticate", "proxy-authorization"],
]);
/** What delimits a message and says whom it is for is not taken away by the word of a client. */
const neverNamed = new Set(["host", "content-length"]);

/**
 * Finds what a request asks for: an absolute address, or a path of the host that its connection is a tunnel to.
 * @throws NetworkError `EINVAL`
 */
export function targetOfRequest({ url = "" }: IncomingMessage, tunnel: Target | undefined): Target & { path: string } {
  if (url.startsWith("/") && tunnel) return { ...tunnel, path: url };
  const { authority, path = "/" } = absoluteForm.exec(url)?.groups ?? {};
  if (authority === undefined) {
    if (/^https:/i.test(url)) throw invalid("https passes by CONNECT alone, which clients do for a proxy of https");
    throw invalid("this is a proxy: the address of a request begins with http://, or comes by CONNECT");
  }
  const target = parseTarget(authority, 80);
  if (!target) throw invalid(`${JSON.stringify(authority.slice(0, 200))} is no host, or host:port`);
  return { ...target, path: path.startsWith("?") ? `/${path}` : path };
}

/**
 * What of a request goes on to its host.
 * @throws NetworkError `EINVAL` for what could be read in two ways, `EACCES` for what is not permitted
 */
export function plainRequest(request: IncomingMessage, { path, ...target }: Target & { path: string }): PlainRequest {
  const { method = "", rawHeaders, httpVersion } = request;
  if (httpVersion !== "1.1" && httpVersion !== "1.0") throw invalid(`HTTP/${httpVersion} is not spoken here`);
  if (refusedMethods.has(method)) throw new NetworkError("EACCES", `the method ${method} is refused`);
  if (rawHeaders.length > 2 * mostHeaders) throw invalid(`there are more than ${mostHeaders} headers`);
  const authority = checkedHost(rawHeaders, target);
  const [encoding, ...encodings] = valuesOf(rawHeaders, "transfer-encoding");
  const [length, ...lengths] = valuesOf(rawHeaders, "content-length");
  const isChunked = encoding !== undefined;
  if (lengths.length > 0 || encodings.length > 0 || (isChunked && length !== undefined)) {
    throw invalid("the length of the body is told twice");
  }
  if (isChunked && encoding.trim().toLowerCase() !== "chunked")
    throw invalid("Transfer-Encoding is chunked, or absent");
  const own = isChunked ? ["Transfer-Encoding", "chunked"] : length === undefined ? lengthOfNone(method) : [];
  const headers = [
    "Host",
    authority,
    ...own,
    ...endToEnd(rawHeaders)
      .filter(([name]) => !isNamed(name, "host"))
      .flat(),
  ];
  return { target, path, headers, hasBody: isChunked || Number(length ?? 0) > 0 };
}

/** Headers that are meant for the other end, as pairs. */
export function endToEnd(rawHeaders: readonly string[]): [name: string, value: string][] {
  const named = valuesOf(rawHeaders, "connection")
    .flatMap((value) => value.split(","))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !neverNamed.has(name));
  const dropped = new Set([...hopByHop, ...named]);
  return headerPairs(rawHeaders).filter(([name]) => !dropped.has(name.toLowerCase()));
}

/** Bytes of a head with these headers, about. */
export function headBytes(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, text) => sum + text.length + 2, 32);
}

/** A host that serves many names goes by this header: it may not lead to another than was judged. */
function checkedHost(rawHeaders: readonly string[], { host, port }: Target): string {
  const [named, ...others] = valuesOf(rawHeaders, "host");
  if (others.length > 0) throw invalid("there are several Host headers");
  const name = host.includes(":") ? `[${host}]` : host;
  const authority = port === 80 ? name : `${name}:${port}`;
  if (named === undefined) return authority;
  const said = parseTarget(named.trim(), 80);
  if (said?.host === host && said.port === port) return authority;
  throw new NetworkError("EACCES", `header Host: it is ${authority}, as in the address, and cannot be another`);
}

function lengthOfNone(method: string): string[] {
  return ["POST", "PUT", "PATCH"].includes(method) ? ["Content-Length", "0"] : [];
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return headerPairs(rawHeaders).flatMap(([key, value]) => (isNamed(key, name) ? [value] : []));
}

function isNamed(key: string, name: string): boolean {
  return key.toLowerCase() === name;
}

/** Names with their values. */
export function headerPairs(rawHeaders: readonly string[]): [name: string, value: string][] {
  const found: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    found.push([rawHeaders[index] ?? "", rawHeaders[index + 1] ?? ""]);
  }
  return found;
}

function invalid(what: string): NetworkError {
  return new NetworkError("EINVAL", what);
}
