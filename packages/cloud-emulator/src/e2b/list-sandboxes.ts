import { HttpFailure } from "../http/http-failure.js";
import type { Api } from "./api-types.js";
import { listedSandbox } from "./models.js";
import type { E2BSandbox } from "./sandbox.js";

const mostOfPage = 100;

/** One page of a list, and how to ask for the next. */
export interface Page<T> {
  readonly items: T[];
  readonly nextToken: string | undefined;
}

/** The sandboxes that a query of `GET /v2/sandboxes` asks for. @throws HttpFailure 400 */
export function listSandboxes(all: readonly E2BSandbox[], query: URLSearchParams): Page<Api["ListedSandbox"]> {
  const metadata = metadataOf(query.get("metadata"));
  const states = query
    .getAll("state")
    .flatMap((value) => value.split(","))
    .filter(Boolean);
  const startedAfter = query.get("startedAfter");
  const template = query.get("template");
  const fits = (sandbox: E2BSandbox) =>
    metadata.every(([name, value]) => sandbox.plan.metadata[name] === value) &&
    (states.length === 0 || states.includes(sandbox.state)) &&
    (startedAfter === null || sandbox.startedAt >= Date.parse(startedAfter)) &&
    (template === null || sandbox.plan.templateID === template || sandbox.plan.alias === template);
  const page = pageOf(all.filter(fits), query);
  return { ...page, items: page.items.map(listedSandbox) };
}

/**
 * Cuts a list, newest first, into the page that is asked for, in the order that is asked for. Its token names the last
 * item of a page by its place in time, so that it holds when items have gone.
 */
export function pageOf<T extends { readonly sequence: number }>(all: readonly T[], query: URLSearchParams): Page<T> {
  const limit = Number(query.get("limit") ?? mostOfPage);
  if (!Number.isInteger(limit) || limit < 1 || limit > mostOfPage) {
    throw new HttpFailure(400, `limit must be between 1 and ${mostOfPage}`);
  }
  const ascending = query.get("order") === "asc";
  const after = afterOf(query.get("nextToken"), ascending);
  const left = all.filter(({ sequence }) => (ascending ? sequence > after : sequence < after));
  if (ascending) left.reverse();
  const items = left.slice(0, limit);
  const last = items.at(-1)?.sequence;
  const token =
    last !== undefined && left.length > limit ? Buffer.from(`after:${last}`).toString("base64url") : undefined;
  return { items, nextToken: token };
}

function afterOf(token: string | null, ascending: boolean): number {
  if (token === null) return ascending ? 0 : Number.POSITIVE_INFINITY;
  const [, sequence] = /^after:(\d+)$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (sequence === undefined) throw new HttpFailure(400, "invalid next token");
  return Number(sequence);
}

/** Pairs are URL-encoded each, then as a whole; the query that carries them was decoded already. */
function metadataOf(value: string | null): [string, string][] {
  if (!value) return [];
  const decoded = (text: string) => decodeURIComponent(text.replaceAll("+", " "));
  try {
    return decoded(value)
      .split("&")
      .map((pair) => {
        const [name = "", ...rest] = pair.split("=");
        return [decoded(name), decoded(rest.join("="))];
      });
  } catch {
    throw new HttpFailure(400, `error parsing metadata: ${value}`);
  }
}
