import type { IncomingMessage, ServerResponse } from "node:http";
import type { Principal } from "../principal.js";
import { report } from "../report.js";
import type { Addresses } from "./addresses.js";
import type { BothEras } from "./both-eras.js";
import { CallsUnderWay } from "./calls-under-way.js";
import { answerCors } from "./cors.js";
import type { Gate } from "./gate.js";
import { metadataPath, type OAuthResource } from "./oauth-resource.js";
import { Refusal } from "./refusal.js";

/** Where MCP is served. */
export const endpoint = "/mcp";

const methods: readonly string[] = ["POST", "GET", "DELETE"];

/** Where clients of the protocol of 2024 look for it. */
const sseEndpoints: readonly string[] = ["/sse", "/message", "/messages", `${endpoint}/sse`];
const insteadOfSse = `the transport HTTP+SSE of 2024 is not served: use streamable HTTP at ${endpoint} (in a client's config: type "http", not "sse")`;

export interface ServiceOptions {
  readonly addresses: Addresses;
  /** Origins whose pages may read answers. */
  readonly origins: readonly string[];
  readonly gate: Gate;
  readonly oauth: OAuthResource | undefined;
  readonly protocol: BothEras;
  /** The figures of the server as text, and who sees them without a token: whoever can connect to this machine's own address. */
  readonly metrics: { readonly text: () => string; readonly open: boolean };
}

/** Host, origin, token, then the protocol: nothing is parsed for a stranger. */
export class Service {
  readonly #options: ServiceOptions;
  readonly #underWay = new CallsUnderWay();
  #draining = false;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    this.#route(request, response).catch((error: unknown) => {
      if (error instanceof Refusal) {
        error.answer(response);
        return;
      }
      // Whatever a stranger sends, the server goes on for the others.
      report("a request failed", error);
      new Refusal(500, "this request cannot be served").answer(response);
    });
  };

  /** Takes no more calls, and waits for those under way until the signal aborts. */
  async drain(enough: AbortSignal): Promise<void> {
    this.#draining = true;
    await this.#underWay.settle(enough);
  }

  /** Breaks off what is left. */
  async close(): Promise<void> {
    await this.#options.protocol.close();
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Compared as it was sent: a target such as // is no URL and cannot be parsed as one.
    const path = request.url?.split("?")[0] ?? "";
    // Whoever balances load asks by address; it learns nothing else.
    if (path === "/healthz") {
      this.#answerHealth(request, response);
      return;
    }
    this.#checkAddresses(request);
    if (answerCors(request, response, this.#options.origins)) return;
    if (path === "/metrics") await this.#answerMetrics(request, response);
    else if (path === endpoint) await this.#serve(request, response);
    else this.#answerOther(path, request, response);
  }

  #answerHealth(request: IncomingMessage, response: ServerResponse): void {
    checkRead(request);
    if (this.#draining) throw shuttingDown();
    answer(response, "application/json", JSON.stringify({ status: "ok" }));
  }

  #checkAddresses({ headers }: IncomingMessage): void {
    const { addresses } = this.#options;
    const problem = addresses.hostProblem(headers.host);
    if (problem !== undefined) throw new Refusal(problem.status, problem.message);
    if (addresses.allowsOrigin(headers.origin)) return;
    throw new Refusal(
      403,
      "pages of this origin may not call: whoever runs the server allows it in http.allowedOrigins",
    );
  }

  async #answerMetrics(request: IncomingMessage, response: ServerResponse): Promise<void> {
    checkRead(request);
    const { gate, metrics } = this.#options;
    if (!metrics.open) await gate.admit(request);
    answer(response, "text/plain; version=0.0.4; charset=utf-8", metrics.text());
  }

  #answerOther(path: string, request: IncomingMessage, response: ServerResponse): void {
    const { oauth } = this.#options;
    if (oauth !== undefined && (path === metadataPath || path === `${metadataPath}${oauth.path}`)) {
      checkRead(request);
      answer(response, "application/json", JSON.stringify(oauth.metadata));
      return;
    }
    if (sseEndpoints.includes(path)) throw new Refusal(410, insteadOfSse);
    throw new Refusal(404, `nothing is here: the MCP endpoint is ${endpoint}`);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const principal = await this.#options.gate.admit(request);
    if (this.#draining) throw shuttingDown();
    if (!methods.includes(request.method ?? "")) {
      throw new Refusal(405, `POST to ${endpoint}`, { Allow: methods.join(", ") });
    }
    if (request.method === "GET" && request.headers["mcp-session-id"] === undefined) {
      throw new Refusal(405, `POST to ${endpoint}; ${insteadOfSse}`, { Allow: "POST" });
    }
    // Whoever listens, by GET or in the newer protocol by a call, waits for what may never come.
    const listens = request.headers["mcp-method"] === "subscriptions/listen";
    if (request.method === "POST" && !listens) this.#underWay.add(response);
    await this.#options.protocol.handle(Object.assign(request, { auth: authOf(principal) }), response);
  }
}

/** How the principal of a request reaches the factory of servers. */
function authOf(principal: Principal) {
  return { token: "", clientId: principal.id, scopes: [], extra: { principal } };
}

function checkRead({ method }: IncomingMessage): void {
  if (method !== "GET" && method !== "HEAD") throw new Refusal(405, "only GET is served here", { Allow: "GET, HEAD" });
}

function answer(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { "Content-Type": type, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" });
  response.end(text);
}

function shuttingDown(): Refusal {
  return new Refusal(503, "the server is shutting down: connect again later", { "Retry-After": "5" });
}
