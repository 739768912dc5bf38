import { randomBytes } from "node:crypto";
import { Clock } from "../clock.js";
import { Faults } from "../faults.js";
import type { Exchange } from "../http/exchange.js";
import { listen, refuseUpgrade, type Upgrade } from "../http/listen.js";
import { RouteTable } from "../http/route-table.js";
import { RequestLog } from "../request-log.js";
import { type ApiFailure, apiFailure, failureBody, toApiFailure } from "./api-failure.js";
import { sandboxRoutes } from "./control/control-routes.js";
import { Lifetimes } from "./control/lifetimes.js";
import { Sandboxes } from "./control/sandboxes.js";
import { snapshotRoutes } from "./control/snapshot-routes.js";
import { Snapshots } from "./control/snapshots.js";
import type { DaytonaOptions } from "./options.js";
import { faithfulQuirks } from "./quirks.js";
import { Reach } from "./reach.js";
import { toolboxRoutes } from "./toolbox/toolbox-routes.js";
import { upgradeToolbox } from "./toolbox/upgrades.js";

/** An emulated Daytona that runs. */
export interface DaytonaEmulator extends AsyncDisposable {
  /** The SDK's `apiUrl`. */
  readonly url: string;
  /** A key that it accepts. */
  readonly apiKey: string;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly requests: RequestLog;
  /** Ends all sandboxes and stops listening. */
  close(): Promise<void>;
}

/** Starts a server on loopback that speaks Daytona's protocols, and runs everything through a Sandkit provider. */
export async function startDaytona(options: DaytonaOptions): Promise<DaytonaEmulator> {
  const clock = options.clock ?? new Clock();
  const faults = new Faults(options.faults);
  const requests = new RequestLog();
  const apiKeys = options.apiKeys ?? [`dtn_${randomBytes(32).toString("hex")}`];
  const quirks = { ...faithfulQuirks, ...options.quirks };
  const snapshots = new Snapshots(options);
  const sandboxes = new Sandboxes({ options, quirks, clock, snapshots, changed: (one) => lifetimes.rearm(one) });
  const lifetimes = new Lifetimes(clock, sandboxes, ({ toolbox }) =>
    Boolean(quirks.connectionsAreActivity && toolbox?.isConnected),
  );
  const reach = new Reach({ sandboxes, clock, apiKeys });
  const toolboxProxyUrl = () => `${server.url}/toolbox`;
  const control = new RouteTable({
    ...sandboxRoutes({ options, clock, sandboxes, lifetimes, toolboxProxyUrl }),
    ...snapshotRoutes(snapshots),
  });
  const toolboxes = new RouteTable(toolboxRoutes("/toolbox/:id", (id, exchange) => reach.toolbox(id, exchange)));

  async function handle(exchange: Exchange): Promise<void> {
    const { method, path } = exchange;
    if (path.startsWith("/api/")) {
      reach.requireKey(exchange.request);
      const route = control.find(method, path.slice("/api".length));
      if (!route) throw notThere(method, path);
      return route(exchange);
    }
    const route = toolboxes.find(method, path);
    if (!route) throw notThere(method, path);
    return route(exchange);
  }

  async function upgrade(asked: Upgrade): Promise<void> {
    const [, id = "", path = ""] = /^\/toolbox\/([^/]+)(\/.*)$/.exec(asked.url.pathname) ?? [];
    try {
      reach.requireKey(asked.request);
      await upgradeToolbox(reach.running(id), asked, path);
    } catch (error) {
      const failure = toApiFailure(error, "DAYTONA_PROXY");
      asked.record.status = failure.status;
      const body = JSON.stringify(failureBody(failure, "GET", asked.url.pathname));
      refuseUpgrade(asked.socket, failure.status, body, { "content-type": "application/json" });
    }
  }

  const server = await listen({
    ...options,
    faults,
    requests,
    handle,
    upgrade,
    failed: async (exchange, error) => {
      const source = exchange.path.startsWith("/api/") ? "DAYTONA_API" : "DAYTONA_DAEMON";
      const failure = toApiFailure(error, source);
      await exchange.json(failure.status, failureBody(failure, exchange.method, exchange.path), failure.headers);
    },
  });
  const close = async () => {
    await sandboxes.close();
    await server.close();
  };
  const url = `${server.url}/api`;
  return { url, apiKey: apiKeys[0] ?? "", clock, faults, requests, close, [Symbol.asyncDispose]: close };
}

function notThere(method: string, path: string): ApiFailure {
  return apiFailure(501, `this emulator does not answer ${method} ${path}`);
}
