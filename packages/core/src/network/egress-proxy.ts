import * as http from "node:http";
import type { Duplex } from "node:stream";
import { type Contact, ContactBook } from "./contact.js";
import type { EgressContext } from "./egress-context.js";
import { type EgressLimits, limitsOf } from "./egress-limits.js";
import { EgressJudge, type EgressPolicy } from "./egress-policy.js";
import { ForwardedRequest, type HostAgents } from "./forwarded-request.js";
import { guardedLookups, type LookupSeams } from "./guarded-lookup.js";
import { endWith, linger, refusalText } from "./refusal.js";
import { parseTarget, type Target } from "./target.js";
import { established, openTunnel } from "./tunnel.js";
import { asksForWebSocket, headWithoutUpgrade, openWebSocket } from "./web-socket.js";

/** What a proxy allows, within which limits, and who is told. */
export interface EgressProxyOptions extends EgressPolicy {
  /** Those that are not given have their defaults. */
  readonly limits?: Partial<EgressLimits> | undefined;
  /** Told of each contact once, when it is over. */
  readonly onContact?: ((contact: Contact) => void) | undefined;
  /** For tests. */
  readonly seams?: LookupSeams | undefined;
}

/** A connection of the sandbox. */
interface Client {
  /** What its requests wait for: they are served one after another. */
  turn: Promise<void>;
  /** Those that are not answered, oldest first. */
  readonly asked: ForwardedRequest[];
  /** It has been answered, and has not asked again. */
  idle: boolean;
  /** What came of it last was no request: it is told so, and nothing more is read. */
  broken: boolean;
  timer: NodeJS.Timeout | undefined;
  /** The host whose port 80 it is a tunnel to. */
  tunnel: Target | undefined;
}

interface ParserError {
  readonly code?: string;
  readonly reason?: string;
}

const plainPort = 80;
const longestHead = 16 * 1024;
/** Requests that one connection may send ahead of their answers. */
const mostAhead = 16;
/** Of a connection with a host that waits for the next request. */
const keptMs = 4_000;

/**
 * The host's end of a sandbox's network: speaks HTTP proxy on connections from inside, and connects them with the hosts
 * of a policy. Who asks is believed nothing.
 */
export class EgressProxy {
  readonly #context: EgressContext;
  readonly #agents: HostAgents;
  /** Never listens: it parses what is said on the connections that it is given. */
  readonly #server: http.Server;
  readonly #clients = new Map<Duplex, Client>();
  /** Also those that are being told that they are no clients. */
  readonly #connections = new Set<Duplex>();
  readonly #work = new Set<Promise<void>>();
  #closed = false;

  /** @throws TypeError naming an entry of the list that is none */
  constructor({ limits, onContact, seams = {}, ...policy }: EgressProxyOptions) {
    const bounds = limitsOf(limits);
    this.#context = {
      judge: new EgressJudge(policy, seams.isPublic),
      book: new ContactBook(onContact, bounds.maxBytes),
      limits: bounds,
      lookup: guardedLookups(seams),
    };
    this.#agents = { kept: new http.Agent({ keepAlive: true, timeout: keptMs }), single: new http.Agent() };
    this.#server = http.createServer({
      insecureHTTPParser: false,
      maxHeaderSize: longestHead,
      keepAliveTimeout: bounds.keepAliveMs,
      requestTimeout: 0,
    });
    // All of them: one that is left out could be the one that decides.
    this.#server.maxHeadersCount = 0;
    this.#server.on("request", (request, response) => this.#serve(request, response));
    this.#server.on("connect", (request, client, head) => this.#connect(request, client, head));
    this.#server.on("upgrade", (request, client, head) => this.#upgrade(request, client, head));
    this.#server.on("clientError", (error: ParserError, client) => this.#complain(error, client));
  }

  /** Serves a connection from inside, from now on until it ends. */
  accept(connection: Duplex): void {
    // What fails here fails its requests, which say so.
    connection.on("error", () => connection.destroy());
    if (this.#closed || connection.destroyed) {
      connection.destroy();
      return;
    }
    this.#connections.add(connection);
    connection.once("close", () => {
      clearTimeout(this.#clients.get(connection)?.timer);
      this.#clients.delete(connection);
      this.#connections.delete(connection);
    });
    if (this.#clients.size >= this.#context.limits.maxConnections && !this.#endIdle()) {
      const message = `more than ${this.#context.limits.maxConnections} connections are open: close some`;
      endWith(connection, refusalText({ code: "EBUSY", message }));
      return;
    }
    const client = newClient();
    this.#clients.set(connection, client);
    this.#parse(connection, client);
  }

  /** Ends everything that is under way, and resolves once it is told of. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const connection of this.#connections) connection.destroy();
    this.#agents.kept.destroy();
    this.#agents.single.destroy();
    await Promise.all(this.#work);
  }

  #parse(connection: Duplex, client: Client): void {
    this.#limit(connection, client, this.#context.limits.headerMs);
    this.#server.emit("connection", connection);
  }

  /** The time in which the head of a request has to come. */
  #limit(connection: Duplex, client: Client, withinMs: number): void {
    clearTimeout(client.timer);
    client.timer = setTimeout(() => {
      // Who has been answered and says nothing more is not told anything either.
      if (client.idle) connection.destroy();
      else this.#complain({ code: "ERR_HTTP_REQUEST_TIMEOUT" }, connection);
    }, withinMs);
    client.timer.unref();
  }

  #serve(request: http.IncomingMessage, response: http.ServerResponse): void {
    const connection: Duplex = request.socket;
    const client = this.#clients.get(connection);
    if (!client || client.asked.length >= mostAhead) {
      connection.destroy();
      return;
    }
    clearTimeout(client.timer);
    client.idle = false;
    const forwarded = new ForwardedRequest(request, response, this.#context, this.#agents);
    client.asked.push(forwarded);
    const before = client.turn;
    client.turn = this.#track(
      connection,
      before.then(async () => {
        if (!connection.destroyed) await forwarded.run(client.tunnel);
        client.asked.shift();
        if (client.asked.length === 0 && !connection.destroyed) this.#rest(connection, client);
      }),
    );
  }

  /** Waits for the next request, where there may be one. */
  #rest(connection: Duplex, client: Client): void {
    if (client.broken) {
      linger(connection);
      connection.end();
      return;
    }
    client.idle = true;
    this.#limit(connection, client, this.#context.limits.keepAliveMs);
  }

  #connect(request: http.IncomingMessage, connection: Duplex, head: Buffer): void {
    const client = this.#taken(connection);
    if (!client) return;
    connection.unshift(head);
    const target = parseTarget(request.url ?? "");
    const refuse = (message: string) => endWith(connection, refusalText({ code: "EINVAL", message }));
    if (client.tunnel) refuse("a tunnel within a tunnel is refused");
    else if (!target) refuse(`CONNECT ${JSON.stringify((request.url ?? "").slice(0, 200))}: it is no host:port`);
    else if (this.#isPlain(target)) {
      client.tunnel = target;
      connection.write(established);
      this.#parse(connection, client);
    } else this.#track(connection, openTunnel(connection, target, this.#context));
  }

  /** HTTP in the clear is checked request by request, whichever way it comes. What is refused anyway is no tunnel. */
  #isPlain(target: Target): boolean {
    const { judge } = this.#context;
    return target.port === plainPort && judge.checksTunnels && judge.permits(target);
  }

  #upgrade(request: http.IncomingMessage, connection: Duplex, head: Buffer): void {
    const client = this.#taken(connection);
    if (!client) return;
    connection.unshift(head);
    if (asksForWebSocket(request)) {
      const { single } = this.#agents;
      this.#track(connection, openWebSocket(connection, request, client.tunnel, this.#context, single));
    } else {
      connection.unshift(Buffer.from(headWithoutUpgrade(request), "latin1"));
      this.#parse(connection, client);
    }
  }

  /** The client whose connection is not parsed any more; undefined for one that did not wait for its answers. */
  #taken(connection: Duplex): Client | undefined {
    const client = this.#clients.get(connection);
    if (client?.asked.length === 0) {
      clearTimeout(client.timer);
      client.idle = false;
      return client;
    }
    connection.destroy();
    return undefined;
  }

  /** Says why what came was no request, where nothing else is being said. */
  #complain({ code, reason }: ParserError, connection: Duplex): void {
    const client = this.#clients.get(connection);
    const [asked, ...others] = client?.asked ?? [];
    const message = complaint(code, reason);
    if (!client || others.length > 0 || !connection.writable) connection.destroy();
    else if (asked) asked.reject(message);
    else endWith(connection, refusalText({ code: "EINVAL", message }));
    if (client) client.broken = true;
  }

  /** Ends a connection that waits for nothing but its next request. */
  #endIdle(): boolean {
    for (const [connection, { idle }] of this.#clients) {
      if (!idle || connection.writableLength > 0) continue;
      connection.destroy();
      this.#clients.delete(connection);
      return true;
    }
    return false;
  }

  /** What fails here is a defect of ours, which no guest may end the program by. */
  #track(connection: Duplex, work: Promise<void>): Promise<void> {
    const tracked = work
      .catch((error) => {
        connection.destroy();
        process.emitWarning(error);
      })
      .finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
    return tracked;
  }
}

function newClient(): Client {
  return { turn: Promise.resolve(), asked: [], idle: false, broken: false, timer: undefined, tunnel: undefined };
}

function complaint(code: string | undefined, reason: string | undefined): string {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "the head of the request did not come to its end in time";
  if (code === "HPE_HEADER_OVERFLOW") return `the head of the request is larger than ${longestHead} bytes`;
  return `what came is no request of HTTP/1.1${reason ? `: ${reason}` : ""}`;
}
