import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { gzipSync } from "node:zlib";

/** A request as it arrived. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** A server on this machine whose paths are what its name says: each for one kind of answer. */
export class WebServer {
  readonly #server: Server;
  readonly #secure: boolean;
  readonly #special = new Map<string, RequestListener>();
  readonly seen: Seen[] = [];
  /** Connections that were ever opened. */
  connections = 0;
  /** Answers that are open now, and the most that were at one time. */
  open = 0;
  mostOpen = 0;

  constructor(tls?: { readonly key: string; readonly cert: string }) {
    this.#secure = tls !== undefined;
    const listener: RequestListener = (request, response) => void this.#answer(request, response);
    this.#server = tls ? createSecureServer(tls, listener) : createServer(listener);
    this.#server.on("connection", () => {
      this.connections += 1;
    });
  }

  /** `host:port`, as a list of permitted hosts names it. */
  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#secure ? "https" : "http"}://${this.host}`;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async stop(): Promise<void> {
    (this.#server as ReturnType<typeof createServer>).closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Has a path answered in a way of its own. */
  on(path: string, answer: RequestListener): void {
    this.#special.set(path, answer);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.open += 1;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    response.once("close", () => {
      this.open -= 1;
    });
    const [path = "", query = ""] = (request.url ?? "").split("?");
    const special = this.#special.get(path);
    if (special) {
      special(request, response);
      return;
    }
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const { method = "", headers } = request;
    this.seen.push({ method, path: request.url ?? "", headers, body });
    const answer = answers[path] ?? ((r) => void r.writeHead(404, { "x-why": "missing" }).end("no such page"));
    answer(response, decodeURIComponent(query), { method, path, headers, body });
  }
}

type Answer = (response: ServerResponse, query: string, seen: Seen) => void;

const answers: Readonly<Record<string, Answer>> = {
  "/hello": (response) => void response.setHeader("content-type", "text/plain").end("hello"),
  "/json": (response) => void response.setHeader("content-type", "application/json").end('{"answer":42}'),
  /** Tells what came: method, headers, and the size and hash of the body. */
  "/echo": (response, _query, { method, headers, body }) => {
    const sha256 = createHash("sha256").update(body).digest("hex");
    response.end(JSON.stringify({ method, headers, size: body.length, sha256, text: body.toString().slice(0, 1000) }));
  },
  "/redirect": (response, query) => void response.writeHead(302, { location: query }).end("elsewhere"),
  "/redirect307": (response, query) => void response.writeHead(307, { location: query }).end(),
  "/status": (response, query) => void response.writeHead(Number(query)).end(query === "204" ? undefined : query),
  "/bytes": (response, query) => {
    const bytes = Buffer.alloc(Number(query));
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = index % 251;
    response.setHeader("content-length", bytes.length).end(bytes);
  },
  "/chunked": (response) => {
    for (const piece of ["one ", "two ", "three"]) response.write(piece);
    response.end();
  },
  "/gzip": (response) => void response.setHeader("content-encoding", "gzip").end(gzipSync("hello ".repeat(1000))),
  "/two": (response) => void response.setHeader("set-cookie", ["a=1; Path=/", "b=2"]).end("two"),
};
