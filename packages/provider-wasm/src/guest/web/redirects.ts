import type { ResponseHead } from "../../network/messages.js";
import { Headers } from "./headers.js";

/** One request on the way to where redirects lead. */
export interface Hop {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: Uint8Array | null;
}

const redirects = new Set([301, 302, 303, 307, 308]);
const ofTheBody = ["content-type", "content-encoding", "content-language", "content-location", "content-length"];

/** The request that an answer asks for; undefined where it is no redirect. Nothing secret goes to another origin. */
export function nextHop(hop: Hop, { status, url, location }: ResponseHead): Hop | undefined {
  if (!redirects.has(status) || location === undefined) return undefined;
  const headers = new Headers(hop.headers);
  if (originOf(url) !== originOf(location)) {
    for (const name of ["authorization", "cookie", "host"]) headers.delete(name);
  }
  const becomesGet = status === 303 ? !["GET", "HEAD"].includes(hop.method) : status < 303 && hop.method === "POST";
  if (!becomesGet) return { ...hop, url: location, headers };
  for (const name of ofTheBody) headers.delete(name);
  return { method: "GET", url: location, headers, body: null };
}

/** Of an address as the caller's process gives it, which is canonical. */
function originOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*/.exec(url)?.[0] ?? url;
}
