import type { AllowList } from "@sandkit/core";
import { type AddressScope, bare, entryFor, NetworkError, notListed, targetOf } from "@sandkit/core/network";
import type { GuestRequest } from "./messages.js";

/** A request that may be made. */
export interface RequestPlan {
  readonly url: URL;
  readonly method: string;
  /** By name, in the order given; a name that came several times has several values. */
  readonly headers: Readonly<Record<string, string[]>>;
  readonly bodyBytes: number | null;
  readonly decode: boolean;
  readonly scope: AddressScope;
}

const longestUrl = 32 * 1024;
const [mostHeaders, mostHeaderBytes] = [128, 32 * 1024];
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** No line break, and nothing that a server might take for one. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** `CONNECT` would make a tunnel of the connection; the others show a server's view of it. */
const refusedMethods = new Set(["CONNECT", "TRACE", "TRACK"]);
/** Of the connection, which is not the guest's. */
const refusedHeaders = new Set(["connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "expect"]);

/**
 * Checks what a guest asks for. Which host is meant is decided here alone, by the parser whose result is then asked.
 * @throws NetworkError `EACCES` for what the policy refuses, `EINVAL` for what is no request
 */
export function planRequest(request: GuestRequest, allowList: AllowList): RequestPlan {
  const { method, bodyBytes, decode } = request;
  const url = parseUrl(request.url);
  const target = targetOf(url);
  const scope = allowList.scopeOf(target);
  if (scope === undefined) throw notListed(entryFor(target));
  if (typeof method !== "string" || !token.test(method)) throw invalid("the method is none");
  if (refusedMethods.has(method.toUpperCase())) throw invalid(`the method ${method} is not available in a sandbox`);
  if (bodyBytes !== null && !(Number.isSafeInteger(bodyBytes) && bodyBytes >= -1))
    throw invalid("the body has no size");
  return { url, method, headers: checkedHeaders(request, url), bodyBytes, decode: decode === true, scope };
}

function parseUrl(text: unknown): URL {
  if (typeof text !== "string" || text.length > longestUrl) throw invalid(`the address is longer than ${longestUrl}`);
  if (!URL.canParse(text)) throw invalid(`${JSON.stringify(text.slice(0, 200))} is no address`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new NetworkError("EACCES", `${url.protocol} is refused: a sandbox reaches hosts by http and https alone`);
  }
  if (url.username !== "" || url.password !== "") {
    throw invalid(`${bare(url.hostname)}: a name or password in the address is refused: send an Authorization header`);
  }
  return url;
}

function checkedHeaders({ headers, bodyBytes }: GuestRequest, url: URL): Record<string, string[]> {
  if (!Array.isArray(headers) || headers.length > mostHeaders) throw invalid(`more than ${mostHeaders} headers`);
  const checked = new Map<string, { readonly name: string; readonly values: string[] }>();
  let size = 0;
  for (const [name, value] of headers as GuestRequest["headers"]) {
    if (typeof name !== "string" || !token.test(name)) throw invalid("the name of a header is none");
    if (typeof value !== "string" || !headerValue.test(value)) throw invalid(`header ${name}: its value is none`);
    size += name.length + value.length;
    const key = name.toLowerCase();
    if (isMade(key, value, bodyBytes, url)) continue;
    const known = checked.get(key) ?? { name, values: [] };
    known.values.push(value);
    checked.set(key, known);
  }
  if (size > mostHeaderBytes) throw invalid(`the headers are more than ${mostHeaderBytes} bytes`);
  return Object.fromEntries(Array.from(checked.values(), ({ name, values }) => [name, values]));
}

/** Whether a header is one that we make ourselves, and says what ours will. @throws NetworkError for one that may not be set */
function isMade(key: string, value: string, bodyBytes: number | null, url: URL): boolean {
  if (key === "host") {
    const port = url.protocol === "https:" ? 443 : 80;
    if ([url.host, `${url.hostname}:${port}`].includes(value.trim().toLowerCase())) return true;
    throw new NetworkError("EACCES", `header Host: it is ${url.host}, as in the address, and cannot be another`);
  }
  if (key === "content-length") {
    if (value.trim() === `${bodyBytes ?? 0}`) return true;
    throw invalid("header Content-Length: it is the length of the body, and cannot be another");
  }
  if (refusedHeaders.has(key) || key.startsWith("proxy-")) {
    throw new NetworkError("EACCES", `header ${key}: it is about the connection, and cannot be set in a sandbox`);
  }
  return false;
}

function invalid(what: string): NetworkError {
  return new NetworkError("EINVAL", what);
}
