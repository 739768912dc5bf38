import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "../clock.js";
import type { Exchange } from "../http/exchange.js";
import type { Upgrade } from "../http/listen.js";
import { proxyRequest, proxyUpgrade } from "../http/proxy.js";
import type { Handler } from "../http/route-table.js";
import { ApiFailure, apiFailure } from "./api-failure.js";
import type { CloudSandbox } from "./control/cloud-sandbox.js";
import type { Reach } from "./reach.js";
import type { Toolbox } from "./toolbox/toolbox.js";

/** Where previews are below the emulator's address: `/preview/{sandbox or signed token}/{port}/...`. */
const pattern = /^\/preview\/([^/]+)\/(\d+)(\/.*)?$/;
const tokenHeader = "x-daytona-preview-token";
const tokenParameter = "DAYTONA_SANDBOX_AUTH_KEY";
const signedSeconds = 60;

interface Signed {
  readonly sandbox: CloudSandbox;
  readonly port: number;
  readonly expiresAt: number;
}

interface Target {
  readonly toolbox: Toolbox;
  readonly port: number;
  /** With the query. */
  readonly path: string;
}

/** The addresses under which servers in sandboxes are seen from outside. */
export class Previews {
  readonly #reach: Reach;
  readonly #clock: Clock;
  readonly #origin: () => string;
  readonly #signed = new Map<string, Signed>();

  constructor(reach: Reach, clock: Clock, origin: () => string) {
    this.#reach = reach;
    this.#clock = clock;
    this.#origin = origin;
  }

  /** The routes of the control API that tell such addresses. */
  routes(find: (idOrName: string) => CloudSandbox): Record<string, Handler> {
    return {
      "GET /sandbox/:id/ports/:port/preview-url": async (exchange, { id = "", port = "" }) => {
        const sandbox = find(id);
        const url = this.#url(sandbox.id, portOf(port));
        await exchange.json(200, { sandboxId: sandbox.id, url, token: sandbox.previewToken });
      },
      "GET /sandbox/:id/ports/:port/signed-preview-url": async (exchange, { id = "", port: asked = "" }) => {
        const sandbox = find(id);
        const port = portOf(asked);
        const seconds = Number(exchange.query.get("expiresInSeconds") ?? signedSeconds);
        const token = randomBytes(8).toString("hex");
        this.#signed.set(token, { sandbox, port, expiresAt: this.#clock.now() + seconds * 1_000 });
        await exchange.json(200, { sandboxId: sandbox.id, port, token, url: this.#url(token, port) });
      },
      "POST /sandbox/:id/ports/:port/signed-preview-url/:token/expire": async (exchange, { token = "" }) => {
        this.#signed.delete(token);
        await exchange.bytes(200, undefined);
      },
    };
  }

  /** Whether a path is one of a preview. */
  covers(path: string): boolean {
    return pattern.test(path);
  }

  async handle(exchange: Exchange): Promise<void> {
    const target = this.#target(exchange.url, exchange.request);
    await forward(exchange, target);
  }

  async upgrade(upgrade: Upgrade): Promise<void> {
    await forwardUpgrade(upgrade, this.#target(upgrade.url, upgrade.request));
  }

  #target(url: URL, request: IncomingMessage): Target {
    const [, key = "", portText = "", path = "/"] = pattern.exec(url.pathname) ?? [];
    const port = Number(portText);
    const signed = this.#signed.get(key);
    if (signed) {
      if (signed.port !== port || signed.expiresAt <= this.#clock.now()) throw unauthorized();
      return { toolbox: this.#reach.unnoticed(signed.sandbox.id), port, path: path + url.search };
    }
    const sandbox = this.#reach.sandbox(key);
    const query = new URLSearchParams(url.search);
    const token = request.headers[tokenHeader] ?? query.get(tokenParameter);
    if (!sandbox.isPublic && token !== sandbox.previewToken) this.#reach.requireKey(request);
    query.delete(tokenParameter);
    return { toolbox: this.#reach.unnoticed(key), port, path: query.size > 0 ? `${path}?${query}` : path };
  }

  #url(key: string, port: number): string {
    return `${this.#origin()}/preview/${key}/${port}`;
  }
}

/** Hands a request on to a server in a sandbox. @throws ApiFailure 502 when nothing listens there */
export async function forward(exchange: Exchange, { toolbox, port, path }: Target): Promise<void> {
  await proxyRequest(exchange, await connect(toolbox, port), path);
}

/** Hands an upgrade on likewise. */
export async function forwardUpgrade(upgrade: Upgrade, { toolbox, port, path }: Target): Promise<void> {
  const connection = await connect(toolbox, port);
  toolbox.holdSocket(upgrade.socket);
  upgrade.record.status = 101;
  proxyUpgrade(upgrade.request, upgrade.socket, upgrade.head, connection, path);
}

async function connect(toolbox: Toolbox, port: number): Promise<Duplex> {
  const connection = await toolbox.box.connect(port);
  if (connection) return connection;
  throw new ApiFailure("DAYTONA_PROXY", 502, `bad gateway: nothing listens on port ${port} of the sandbox`);
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw apiFailure(400, `invalid port: ${text}`);
  return port;
}

function unauthorized(): ApiFailure {
  return new ApiFailure("DAYTONA_PROXY", 401, "unauthorized: the token of this address is not valid any more");
}
