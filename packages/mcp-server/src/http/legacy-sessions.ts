import { randomUUID } from "node:crypto";
import {
  isInitializeRequest,
  isJSONRPCRequest,
  type McpHandlerRequestOptions,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { report } from "../report.js";
import type { Served } from "./served.js";

const maxSessionsByDefault = 500;

/** Sessions of all principals together: an authorization server may send any number of them. */
const maxAllSessions = 5_000;

/** Ended sessions that are remembered. */
const maxEnded = 10_000;

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly clientId: string | undefined;
  /** Answers that are still owed. */
  underWay: number;
  /** True once newer sessions have taken its place. */
  displaced: boolean;
}

export interface LegacySessionsOptions {
  readonly factory: McpServerFactory;
  readonly maxRequestBodySize: number;
  /**
   * Sessions of one principal, default 500; beyond them the one longest unused goes, and its calls are served without a
   * session.
   */
  readonly maxSessions?: number | undefined;
  /** Serves what belongs to no session known here. */
  readonly stateless: (request: Request, options?: McpHandlerRequestOptions) => Promise<Response>;
}

/**
 * Sessions for clients of the 2025 protocols, where a cancellation comes as a request of its own: without a session it
 * would not find the call. After a restart their calls are served without one, as sandboxes are found by handle.
 */
export class LegacySessions {
  readonly #options: LegacySessionsOptions;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();
  /** Sessions that their clients ended: whoever goes on with one is told to begin anew. */
  readonly #ended = new Set<string>();

  constructor(options: LegacySessionsOptions) {
    this.#options = options;
  }

  readonly fetch = async (request: Request, options: Served): Promise<Response> => {
    const id = request.headers.get("mcp-session-id");
    const body = options.parsedBody;
    const session = id === null ? undefined : this.#sessions.get(id);
    if (id !== null && session !== undefined && session.clientId === options.authInfo?.clientId) {
      this.#touch(id, session);
      return await this.#serve(session, request, options);
    }
    if (id !== null && this.#ended.has(id)) return sessionEnded();
    if (id !== null || !isInitializeRequest(body)) return await this.#options.stateless(request, options);
    return await this.#serve(await this.#open(request, options), request, options);
  };

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()));
  }

  async #open(request: Request, { authInfo }: McpHandlerRequestOptions): Promise<Session> {
    const { factory, maxRequestBodySize } = this.#options;
    const server = await factory({ era: "legacy", ...(authInfo && { authInfo }), requestInfo: request });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize,
      onsessioninitialized: (id) => this.#add(id, session),
      onsessionclosed: (id) => this.#end(id),
    });
    const session: Session = { transport, clientId: authInfo?.clientId, underWay: 0, displaced: false };
    await server.connect(transport);
    return session;
  }

  #end(id: string): void {
    this.#sessions.delete(id);
    this.#ended.add(id);
    const [oldest] = this.#ended;
    if (this.#ended.size > maxEnded && oldest !== undefined) this.#ended.delete(oldest);
  }

  /** A client that goes away before the answer has cancelled: there is nothing it could resume from. */
  async #serve(session: Session, request: Request, options: Served) {
    for (const { id } of [options.parsedBody].flat().filter(isJSONRPCRequest)) {
      const params = { requestId: id, reason: "the client went away" };
      request.signal.addEventListener("abort", () =>
        session.transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/cancelled", params }),
      );
    }
    if (request.method === "POST") this.#owe(session, options);
    return await session.transport.handleRequest(request, options);
  }

  /** Counts the answer as owed until it is given, or nobody waits for it. */
  #owe(session: Session, { whenOver }: Served): void {
    session.underWay += 1;
    whenOver(() => {
      session.underWay -= 1;
      this.#closeUnused(session);
    });
  }

  /** What it subscribed to would be told to nobody for ever. */
  #closeUnused({ displaced, underWay, transport }: Session): void {
    if (!displaced || underWay > 0) return;
    transport.close().catch((error: unknown) => report("a session could not be closed", error));
  }

  #touch(id: string, session: Session): void {
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
  }

  #add(id: string, session: Session): void {
    this.#sessions.set(id, session);
    const own = [...this.#sessions].filter(([, { clientId }]) => clientId === session.clientId);
    const isFull = own.length > (this.#options.maxSessions ?? maxSessionsByDefault);
    const [oldest] = isFull ? own : this.#sessions.size > maxAllSessions ? this.#sessions : [];
    if (oldest === undefined) return;
    const [displacedId, displaced] = oldest;
    this.#sessions.delete(displacedId);
    displaced.displaced = true;
    // Its calls under way are still answered.
    this.#closeUnused(displaced);
  }
}

function sessionEnded(): Response {
  const error = { code: -32001, message: "this session was ended: begin a new one with initialize" };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
}
