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
  const found = all.filter(fits).map(listedSandbox);
  if (query.get("order") === "asc") found.reverse();
  return pageOf(found, query, ({ sandboxID }) => sandboxID);
}

/** Cuts a list into pages; the token of the next one names the last item of this one. */
export function pageOf<T>(all: readonly T[], query: URLSearchParams, keyOf: (item: T) => string): Page<T> {
  const limit = Number(query.get("limit") ?? mostOfPage);
  if (!Number.isInteger(limit) || limit < 1 || limit > mostOfPage) {
    throw new HttpFailure(400, `limit must be between 1 and ${mostOfPage}`);
  }
  const token = query.get("nextToken");
  const last = token === null ? -1 : all.findIndex((item) => keyOf(item) === decode(token));
  if (token !== null && last < 0) throw new HttpFailure(400, "invalid next token");
  const items = all.slice(last + 1, last + 1 + limit);
  const end = items.at(-1);
  const more = last + 1 + limit < all.length && end !== undefined;
  return { items, nextToken: more ? Buffer.from(keyOf(end)).toString("base64url") : undefined };
}

function decode(token: string): string {
  return Buffer.from(token, "base64url").toString();
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
