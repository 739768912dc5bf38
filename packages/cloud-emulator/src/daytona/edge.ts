import type { Exchange } from "../http/exchange.js";
import { refuseUpgrade, type Upgrade } from "../http/listen.js";
import { type Handler, RouteTable } from "../http/route-table.js";
import { apiFailure, type FailureSource, failureBody, toApiFailure } from "./api-failure.js";
import { forward, forwardUpgrade, type Previews } from "./previews.js";
import type { Reach } from "./reach.js";
import { toolboxRoutes } from "./toolbox/toolbox-routes.js";
import { upgradeToolbox } from "./toolbox/upgrades.js";

const api = "/api";
const inToolbox = /^\/toolbox\/([^/]+)(\/.*)$/;
const inProxy = /^\/toolbox\/([^/]+)\/proxy\/(\d+)(\/.*)?$/;

/** Sends each request to the control API, to the program in a sandbox, or to a server in one. */
export class Edge {
  readonly #reach: Reach;
  readonly #previews: Previews;
  readonly #control: RouteTable;
  readonly #toolboxes: RouteTable;

  constructor(reach: Reach, previews: Previews, control: Readonly<Record<string, Handler>>) {
    this.#reach = reach;
    this.#previews = previews;
    this.#control = new RouteTable(control);
    this.#toolboxes = new RouteTable(toolboxRoutes("/toolbox/:id", (id, exchange) => reach.toolbox(id, exchange)));
  }

  async handle(exchange: Exchange): Promise<void> {
    const { method, path, url } = exchange;
    if (this.#previews.covers(path)) return this.#previews.handle(exchange);
    const proxied = inProxy.exec(path);
    if (proxied) {
      const [, id = "", port, rest = "/"] = proxied;
      const toolbox = this.#reach.toolbox(id, exchange);
      return forward(exchange, { toolbox, port: Number(port), path: rest + url.search });
    }
    const ofControl = path.startsWith(`${api}/`);
    if (ofControl) this.#reach.requireKey(exchange.request);
    const route = ofControl ? this.#control.find(method, path.slice(api.length)) : this.#toolboxes.find(method, path);
    if (!route) throw apiFailure(501, `this emulator does not answer ${method} ${path}`);
    await route(exchange);
  }

  /** Answers for what {@link handle} threw. */
  async failed(exchange: Exchange, error: unknown): Promise<void> {
    const failure = toApiFailure(error, sourceOf(exchange.path));
    await exchange.json(failure.status, failureBody(failure, exchange.method, exchange.path), failure.headers);
  }

  async upgrade(upgrade: Upgrade): Promise<void> {
    const { pathname, search } = upgrade.url;
    try {
      if (this.#previews.covers(pathname)) return await this.#previews.upgrade(upgrade);
      this.#reach.requireKey(upgrade.request);
      const proxied = inProxy.exec(pathname);
      if (proxied) {
        const [, id = "", port, path = "/"] = proxied;
        const target = { toolbox: this.#reach.running(id), port: Number(port), path: path + search };
        return await forwardUpgrade(upgrade, target);
      }
      const [, id = "", path = ""] = inToolbox.exec(pathname) ?? [];
      await upgradeToolbox(this.#reach.running(id), upgrade, path);
    } catch (error) {
      const failure = toApiFailure(error, sourceOf(pathname));
      upgrade.record.status = failure.status;
      const body = JSON.stringify(failureBody(failure, "GET", pathname));
      refuseUpgrade(upgrade.socket, failure.status, body, { "content-type": "application/json" });
    }
  }
}

function sourceOf(path: string): FailureSource {
  return path.startsWith(`${api}/`) ? "DAYTONA_API" : "DAYTONA_DAEMON";
}
