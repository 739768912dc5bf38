import type { Exchange } from "./exchange.js";

/** What a route's pattern named `:name` stands for in the path, decoded. */
export type RouteParameters = Readonly<Record<string, string>>;

/** Answers one kind of request. */
export type Handler = (exchange: Exchange, parameters: RouteParameters) => Promise<void> | void;

interface Route {
  readonly method: string;
  readonly segments: readonly string[];
  readonly handler: Handler;
}

/** Handlers by method and path. A pattern is `GET /sandboxes/:id`; a last segment `:rest*` takes all that follows. */
export class RouteTable {
  readonly #routes: Route[] = [];

  constructor(routes: Readonly<Record<string, Handler>>) {
    for (const [pattern, handler] of Object.entries(routes)) {
      const [method = "", path = ""] = pattern.split(" ");
      this.#routes.push({ method, segments: path.split("/"), handler });
    }
  }

  /** The first route that fits, bound to its parameters. */
  find(method: string, path: string): ((exchange: Exchange) => Promise<void> | void) | undefined {
    const segments = path.split("/");
    for (const route of this.#routes) {
      if (route.method !== method) continue;
      const parameters = match(route.segments, segments);
      if (parameters) return (exchange) => route.handler(exchange, parameters);
    }
    return undefined;
  }

  /** Whether the path is known with another method. */
  knows(path: string): boolean {
    const segments = path.split("/");
    return this.#routes.some((route) => match(route.segments, segments) !== undefined);
  }
}

function match(pattern: readonly string[], path: readonly string[]): RouteParameters | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const value = path[index];
    if (part.startsWith(":") && part.endsWith("*")) {
      if (value === undefined) return undefined;
      parameters[part.slice(1, -1)] = path.slice(index).map(decode).join("/");
      return parameters;
    }
    if (part.startsWith(":")) {
      if (!value) return undefined;
      parameters[part.slice(1)] = decode(value);
    } else if (part !== value) return undefined;
  }
  return pattern.length === path.length ? parameters : undefined;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    // Not percent-encoding at all: then it stands for itself.
    return segment;
  }
}
