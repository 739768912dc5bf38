import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { Faults } from "../faults.js";
import type { LoggedRequest, RequestLog } from "../request-log.js";
import { cutSocket } from "./cut-socket.js";
import { Exchange } from "./exchange.js";

/** A request to change protocols. Whoever takes it owns the socket. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly url: URL;
  readonly record: LoggedRequest;
}

/** What a server does with what arrives. */
export interface ListenOptions {
  /** Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Default: a free one. */
  readonly port?: number | undefined;
  readonly faults: Faults;
  readonly requests: RequestLog;
  /** Answers a request. What it throws goes to `failed`. */
  handle(exchange: Exchange): Promise<void>;
  /** Answers for a handler that threw, in the vendor's form. */
  failed(exchange: Exchange, error: unknown): Promise<void>;
  /** Default: upgrades are refused with 501. */
  upgrade?(upgrade: Upgrade): Promise<void>;
}

/** A server on this machine. */
export interface HttpServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  /** Breaks what is open and stops listening. */
  close(): Promise<void>;
}

/** Listens for HTTP on loopback. */
export async function listen(options: ListenOptions): Promise<HttpServer> {
  const host = options.host ?? "127.0.0.1";
  const sockets = new Set<Duplex>();
  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
  });
  server.on("request", async (request, response) => {
    const url = urlOf(request);
    const record = options.requests.enter(request, url);
    const plan = options.faults.take(record.method, url);
    record.fault = plan.delayMs > 0 || plan.dropBefore || plan.answer !== null || plan.cut !== undefined;
    const exchange = new Exchange(request, response, url, record, plan.cut);
    try {
      if (plan.delayMs > 0) await setTimeout(plan.delayMs, undefined, { signal: exchange.signal });
      if (plan.dropBefore) exchange.destroy();
      else if (plan.answer) await answerFault(exchange, plan.answer);
      else await options.handle(exchange);
    } catch (error) {
      if (exchange.started || exchange.signal.aborted) exchange.destroy();
      else await options.failed(exchange, error).catch(() => exchange.destroy());
    }
    // What of the body nobody wanted must not stand before the next request of this connection.
    if (!request.complete) request.resume();
  });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    takeUpgrade(options, { request, socket, head, url: urlOf(request) }).catch(() => socket.destroy());
  });
  server.listen(options.port ?? 0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function takeUpgrade(options: ListenOptions, asked: Omit<Upgrade, "record">): Promise<void> {
  const { request, socket, url } = asked;
  const record = options.requests.enter(request, url);
  socket.on("close", () => {
    record.durationMs = Date.now() - record.at;
  });
  const plan = options.faults.take(record.method, url);
  record.fault = plan.delayMs > 0 || plan.dropBefore || plan.answer !== null || plan.cut !== undefined;
  if (plan.delayMs > 0) await setTimeout(plan.delayMs);
  if (plan.dropBefore) socket.destroy();
  else if (plan.answer) refuseUpgrade(socket, plan.answer.status, bodyOf(plan.answer.body), plan.answer.headers);
  else if (!options.upgrade) refuseUpgrade(socket, 501, "this server changes to no other protocol\n");
  else {
    if (plan.cut) cutSocket(socket, plan.cut.afterBytes);
    await options.upgrade({ ...asked, record });
  }
}

/** Answers an upgrade with a status and ends the connection. */
export function refuseUpgrade(
  socket: Duplex,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const fields = Object.entries({ ...headers, connection: "close", "content-length": String(Buffer.byteLength(body)) });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${status} Refused\r\n${head}\r\n${body}`);
}

async function answerFault(
  exchange: Exchange,
  answer: { readonly status: number; readonly headers: Record<string, string>; readonly body: unknown },
): Promise<void> {
  const type = typeof answer.body === "string" ? "text/plain" : "application/json";
  await exchange.bytes(answer.status, Buffer.from(bodyOf(answer.body)), { "content-type": type, ...answer.headers });
}

function bodyOf(body: unknown): string {
  if (body === undefined) return "";
  return typeof body === "string" ? body : JSON.stringify(body);
}

function urlOf(request: IncomingMessage): URL {
  return new URL(request.url ?? "/", "http://emulator");
}
