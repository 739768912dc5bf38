import type { SandboxState } from "@daytona/api-client";
import { apiFailure } from "../api-failure.js";
import type { CloudSandbox } from "./cloud-sandbox.js";

const mostPerPage = 200;

/** One page of the sandboxes that fit a query. */
export function listPage(
  all: readonly CloudSandbox[],
  query: URLSearchParams,
): { readonly sandboxes: CloudSandbox[]; readonly nextCursor: string | null } {
  const limit = Number(query.get("limit") ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > mostPerPage) {
    throw apiFailure(400, `limit must be a whole number between 1 and ${mostPerPage}`);
  }
  const order = query.get("order") === "asc" ? 1 : -1;
  const inOrder = (a: Place, b: Place) => order * (a.createdAt - b.createdAt || compare(a.id, b.id));
  const after = cursorOf(query);
  const fitting = all.filter(fits(query)).sort(inOrder);
  const rest = after === undefined ? fitting : fitting.filter((sandbox) => inOrder(sandbox, after) > 0);
  const sandboxes = rest.slice(0, limit);
  const last = sandboxes.at(-1);
  return { sandboxes, nextCursor: last !== undefined && rest.length > limit ? toCursor(last) : null };
}

function fits(query: URLSearchParams): (sandbox: CloudSandbox) => boolean {
  const labels = Object.entries(labelsOf(query));
  const states = query.getAll("states").flatMap((one) => one.split(",")) as SandboxState[];
  const [id, name] = [query.get("id"), query.get("name")];
  return (sandbox) =>
    labels.every(([label, value]) => sandbox.labels[label] === value) &&
    (states.length === 0 || states.includes(sandbox.state)) &&
    (id === null || sandbox.id.startsWith(id)) &&
    (name === null || sandbox.name.startsWith(name));
}

function labelsOf(query: URLSearchParams): Record<string, string> {
  const text = query.get("labels");
  if (text === null) return {};
  try {
    return JSON.parse(text);
  } catch {
    throw apiFailure(400, "labels must be a JSON object");
  }
}

/** What the order of a list goes by. It holds also when the sandbox of a cursor is gone. */
interface Place {
  readonly createdAt: number;
  readonly id: string;
}

function toCursor({ createdAt, id }: Place): string {
  return Buffer.from(`${createdAt} ${id}`).toString("base64url");
}

function cursorOf(query: URLSearchParams): Place | undefined {
  const cursor = query.get("cursor");
  if (cursor === null) return undefined;
  const [createdAt, id] = Buffer.from(cursor, "base64url").toString("utf8").split(" ");
  if (!createdAt || !id) throw apiFailure(400, "cursor is not valid");
  return { createdAt: Number(createdAt), id };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
