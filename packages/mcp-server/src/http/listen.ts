import { randomBytes } from "node:crypto";
import { createServer as createHttpServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import type { McpServerFactory } from "@modelcontextprotocol/server";
import type { Config } from "../config.js";
import { ConfigError } from "../load-config.js";
import type { Principal } from "../principal.js";
import { checkShareable, replicaName } from "../replica.js";
import { Runtime } from "../runtime.js";
import { createServer } from "../server.js";
import { Addresses, bracketed, isLoopback } from "./addresses.js";
import { bothEras } from "./both-eras.js";
import { Gate } from "./gate.js";
import { OAuthResource } from "./oauth-resource.js";
import { endpoint, Service } from "./service.js";
import { newToken, Tokens } from "./tokens.js";
import { countTraffic } from "./traffic.js";

/** Limits on whoever sends slowly, and on how many do. */
const serverLimits = { headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 75_000 };
const maxConnections = 4_096;
/** How long answers may take once all sandboxes have ended, in milliseconds. */
const farewellMs = 1_000;

export interface ServeHttpOptions {
  readonly config: Config;
  /** The file of the config: provider packages installed beside it are found. */
  readonly configPath?: string | undefined;
  /** Default `127.0.0.1`. Any other than loopback needs `token` or `http.oauth` of the config. */
  readonly host?: string | undefined;
  /** Default: one that is free. */
  readonly port?: number | undefined;
  /**
   * Bearer token, or one for each user; `name:token` names the user. Default: a new one, or none where the config has
   * `http.oauth`.
   */
  readonly token?: string | readonly string[] | undefined;
  /**
   * Signs the ids of sandboxes, so that those of before a restart, and of other servers with the same, are known. Default:
   * `secret` of the config; without it, with tokens, made from them; with OAuth, a new one.
   */
  readonly secret?: string | undefined;
  /** Names under which clients reach the server beside loopback ones. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Makes the MCP server of each session or request, for tools beside the usual; default `createServer`. */
  readonly createServer?: typeof createServer | undefined;
}

export interface HttpServer {
  readonly url: string;
  /** The first token; undefined where only an authorization server gives them. */
  readonly token: string | undefined;
  /**
   * Takes no more calls (503), lets those under way finish (for `http.drainSeconds`, or until `hurry` aborts), then ends
   * every sandbox.
   */
  close(hurry?: AbortSignal): Promise<void>;
}

/**
 * Serves MCP over streamable HTTP at `/mcp`, to holders of a token alone.
 * @throws ConfigError for a host other than loopback without a token of the caller's own, for an unusable token, and for
 *   options that the provider does not take
 */
export async function serveHttp(options: ServeHttpOptions): Promise<HttpServer> {
  const { host = "127.0.0.1", port = 0 } = options;
  const { http } = options.config;
  const own = tokensOf(options, host);
  if (http.oauth !== undefined && http.publicUrl === undefined && !isLoopback(host)) {
    throw new ConfigError("http.oauth needs http.publicUrl in the config: tokens are made for that address");
  }
  const secret = options.secret ?? options.config.secret;
  const byTokens = options.token !== undefined && http.oauth === undefined;
  checkShareable(options.config, secret !== undefined || byTokens);
  const tokens = new Tokens(own, secret);
  const server = createHttpServer(serverLimits);
  server.maxConnections = maxConnections;
  await listen(server, port, host);
  const { port: bound } = server.address() as AddressInfo;
  const runtime = new Runtime({ ...options, implicit: "fresh", replica: replicaName(hostname(), bound) });
  await runtime.checkOptions().catch((error) => {
    server.close();
    throw error;
  });
  const url = `http://${bracketed(host)}:${bound}${endpoint}`;
  const resource = new URL(http.publicUrl ?? url);
  const oauth =
    http.oauth &&
    new OAuthResource({
      settings: http.oauth,
      resource,
      secret: secret ?? randomBytes(32).toString("hex"),
    });
  const hosts = [bracketed(host), resource.hostname, ...(options.allowedHosts ?? [])];
  const service = new Service({
    addresses: new Addresses(hosts, http.allowedOrigins),
    origins: http.allowedOrigins,
    gate: new Gate({ tokens, oauth, requestsPerMinute: http.requestsPerMinute }),
    oauth,
    protocol: protocolOf(runtime, options.createServer ?? createServer),
    metrics: { text: () => runtime.observer.metrics.render(), open: isLoopback(host) },
  });
  countTraffic(server, runtime.observer.metrics);
  server.on("request", service.handle);
  // Whoever starts the server is told at once what is wrong with its provider, not by the first who calls. Never rejects.
  void runtime.surface();
  return {
    url,
    token: own[0]?.replace(/^[^:]*:/, ""),
    async close(hurry) {
      await service.drain(AbortSignal.any([AbortSignal.timeout(http.drainSeconds * 1000), ...(hurry ? [hurry] : [])]));
      // What still runs ends with its sandbox, and is answered so: a connection that only breaks leaves clients waiting.
      await runtime.close();
      await service.drain(AbortSignal.timeout(farewellMs));
      await service.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** @throws ConfigError when others could reach the server and none is given */
function tokensOf({ token, config }: ServeHttpOptions, host: string): readonly string[] {
  const given = [token ?? []].flat();
  if (given.length > 0 || config.http.oauth !== undefined) return given;
  if (isLoopback(host)) return [newToken()];
  throw new ConfigError(
    `host ${host} is open to others: set SANDKIT_TOKEN to a secret of your own, configure http.oauth, or bind 127.0.0.1`,
  );
}

function protocolOf(runtime: Runtime, create: typeof createServer) {
  // As over stdio: JSON may take six bytes for one; the tools then name the limit of their own.
  const maxRequestBodySize = 6 * runtime.config.maxInputBytes + 1024 * 1024;
  const factory: McpServerFactory = ({ authInfo }) => {
    const principal = authInfo?.extra?.principal as Principal | undefined;
    if (principal === undefined) throw new Error("a request without a principal reached the handler");
    return create(runtime, principal);
  };
  const protocol = bothEras(factory, maxRequestBodySize);
  runtime.onChange(protocol.tellChange);
  return protocol;
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve());
  });
}
