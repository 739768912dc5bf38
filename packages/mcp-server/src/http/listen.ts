import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { hostHeaderValidation, originValidation, toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isLegacyRequest,
  legacyStatelessFallback,
  type McpHandlerRequestOptions,
  type McpServerFactory,
} from "@modelcontextprotocol/server";
import type { Config } from "../config.js";
import { ConfigError } from "../load-config.js";
import type { Principal } from "../principal.js";
import { report } from "../report.js";
import { Runtime } from "../runtime.js";
import { createServer } from "../server.js";
import { newToken, Tokens } from "./auth.js";
import { LegacySessions } from "./legacy-sessions.js";

const path = "/mcp";
const plainHost = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d+)?$/i;
const loopback = ["localhost", "127.0.0.1", "[::1]"];
/** How long calls under way may take to finish once the server is to end, in milliseconds. */
const drainMs = 10_000;

export interface ServeHttpOptions {
  readonly config: Config;
  /** The file of the config: provider packages installed beside it are found. */
  readonly configPath?: string | undefined;
  /** Default `127.0.0.1`. Any other than loopback needs `token`. */
  readonly host?: string | undefined;
  /** Default: one that is free. */
  readonly port?: number | undefined;
  /** Bearer token, or one for each user; default: a new one. */
  readonly token?: string | readonly string[] | undefined;
  /** Names under which clients reach the server beside loopback ones. */
  readonly allowedHosts?: readonly string[] | undefined;
}

export interface HttpServer {
  readonly url: string;
  /** The first token. */
  readonly token: string;
  /** Finishes calls under way (10 s at most, or until `hurry` aborts), then ends every sandbox. */
  close(hurry?: AbortSignal): Promise<void>;
}

/**
 * Serves MCP over streamable HTTP at `/mcp`, to holders of a token alone.
 * @throws ConfigError for a host other than loopback without a token of the caller's own
 */
export async function serveHttp(options: ServeHttpOptions): Promise<HttpServer> {
  const { host = "127.0.0.1", port = 0 } = options;
  const own = options.token === undefined || options.token.length === 0;
  if (own && !isLoopback(host)) {
    throw new ConfigError(
      `host ${host} is open to others: set SANDKIT_TOKEN to a secret of your own, or bind 127.0.0.1`,
    );
  }
  const tokens = own ? [newToken()] : [options.token ?? []].flat();
  if (!tokens.every((token) => /^[\x21-\x7e]+$/.test(token))) {
    throw new ConfigError("SANDKIT_TOKEN holds a character that a header cannot carry: use letters, digits, - and _");
  }
  const runtime = new Runtime({ ...options, implicit: "fresh" });
  const service = new McpService(runtime, tokens, [...loopback, bracketed(host), ...(options.allowedHosts ?? [])]);
  const server = createHttpServer((request, response) => service.handle(request, response));
  await listen(server, port, host);
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${bracketed(host)}:${bound}${path}`,
    token: tokens[0] ?? "",
    async close(hurry) {
      const closed = new Promise((resolve) => server.close(resolve));
      await service.drain(AbortSignal.any([AbortSignal.timeout(drainMs), ...(hurry ? [hurry] : [])]));
      server.closeAllConnections();
      await closed;
      await runtime.close();
    },
  };
}

/** Host, origin, token, then the protocol: nothing is parsed for a stranger. */
class McpService {
  readonly #checkHost: ReturnType<typeof hostHeaderValidation>;
  readonly #checkOrigin: ReturnType<typeof originValidation>;
  readonly #tokens: Tokens;
  readonly #modern: ReturnType<typeof createMcpHandler>;
  readonly #legacy: LegacySessions;
  readonly #serve: ReturnType<typeof toNodeHandler>;
  readonly #principals = new Map<string, Principal>();
  readonly #underWay = new Set<ServerResponse>();
  #draining = false;

  constructor(runtime: Runtime, tokens: readonly string[], hosts: string[]) {
    this.#checkHost = hostHeaderValidation(hosts);
    this.#checkOrigin = originValidation(hosts);
    this.#tokens = new Tokens(tokens);
    // As over stdio: JSON may take six bytes for one; the tools then name the limit of their own.
    const maxRequestBodySize = 6 * runtime.config.maxInputBytes + 1024 * 1024;
    const onerror = (error: Error) => report("protocol", error);
    const factory: McpServerFactory = ({ authInfo }) => {
      const principal = this.#principals.get(authInfo?.clientId ?? "");
      if (principal === undefined) throw new Error("a request without a principal reached the handler");
      return createServer(runtime, principal);
    };
    const stateless = legacyStatelessFallback(factory, onerror, { maxRequestBodySize });
    this.#modern = createMcpHandler(factory, { legacy: "reject", onerror, maxRequestBodySize });
    this.#legacy = new LegacySessions({ factory, maxRequestBodySize, stateless });
    const fetch = async (request: Request, options?: McpHandlerRequestOptions) => {
      const legacy = await isLegacyRequest(request, undefined, { maxRequestBodySize });
      return await (legacy ? this.#legacy : this.#modern).fetch(request, options);
    };
    this.#serve = toNodeHandler({ fetch }, { onerror, maxRequestBodySize });
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    try {
      this.#admit(request, response);
    } catch (error) {
      // Whatever a stranger sends, the server goes on for the others.
      report("a request failed", error);
      refuse(response, 500, "this request cannot be served");
    }
  }

  #admit(request: IncomingMessage, response: ServerResponse): void {
    if (!plainHost.test(request.headers.host ?? "")) {
      refuse(response, 400, "the header Host must be a name or an address, with or without a port");
      return;
    }
    if (!this.#checkHost(request, response) || !this.#checkOrigin(request, response)) return;
    // Compared as it was sent: a target such as // is no URL and cannot be parsed as one.
    if (request.url?.split("?")[0] !== path) {
      refuse(response, 404, `nothing is here: the MCP endpoint is ${path}`);
      return;
    }
    const principal = this.#tokens.identify(request);
    if (principal === undefined) {
      response.setHeader("WWW-Authenticate", "Bearer");
      refuse(response, 401, "send the header Authorization: Bearer <token>, with the token printed at start");
      return;
    }
    if (this.#draining) {
      refuse(response, 503, "the server is shutting down: connect again later");
      return;
    }
    this.#principals.set(principal.id, principal);
    // A client's open GET waits for what may never come.
    if (request.method === "POST") this.#underWay.add(response);
    response.once("close", () => this.#underWay.delete(response));
    const auth = { token: "", clientId: principal.id, scopes: [] };
    this.#serve(Object.assign(request, { auth }), response).catch((error) => report("a request failed", error));
  }

  /** Takes no more calls, and waits for those under way until the signal aborts. */
  async drain(enough: AbortSignal): Promise<void> {
    this.#draining = true;
    const finished = Promise.all(
      [...this.#underWay].map((response) => new Promise((resolve) => response.once("close", resolve))),
    );
    const aborted = new Promise<void>((resolve) => {
      if (enough.aborted) resolve();
      enough.addEventListener("abort", () => resolve());
    });
    await Promise.race([finished, aborted]);
    await Promise.all([this.#modern.close(), this.#legacy.close()]);
  }
}

function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { "Content-Type": "application/json", Connection: "close" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32000, message } }));
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve());
  });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
