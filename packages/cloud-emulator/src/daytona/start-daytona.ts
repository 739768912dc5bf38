import { randomBytes } from "node:crypto";
import { Clock } from "../clock.js";
import { Faults } from "../faults.js";
import { listen } from "../http/listen.js";
import { RequestLog } from "../request-log.js";
import { configRoutes } from "./control/config-routes.js";
import { sandboxRoutes } from "./control/control-routes.js";
import { Lifetimes } from "./control/lifetimes.js";
import { Sandboxes } from "./control/sandboxes.js";
import { snapshotRoutes } from "./control/snapshot-routes.js";
import { Snapshots } from "./control/snapshots.js";
import { Edge } from "./edge.js";
import type { DaytonaOptions } from "./options.js";
import { Previews } from "./previews.js";
import { faithfulQuirks } from "./quirks.js";
import { Reach } from "./reach.js";

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
  const previews = new Previews(reach, clock, () => server.url);
  const toolboxProxyUrl = () => `${server.url}/toolbox`;
  const edge = new Edge(reach, previews, {
    ...sandboxRoutes({ options, clock, sandboxes, lifetimes, toolboxProxyUrl }),
    ...previews.routes((idOrName) => sandboxes.get(idOrName)),
    ...snapshotRoutes(snapshots),
    ...configRoutes(toolboxProxyUrl),
  });
  const server = await listen({
    host: options.host,
    port: options.port,
    faults,
    requests,
    handle: (exchange) => edge.handle(exchange),
    failed: (exchange, error) => edge.failed(exchange, error),
    upgrade: (upgrade) => edge.upgrade(upgrade),
  });
  const close = async () => {
    await sandboxes.close();
    await server.close();
  };
  const url = `${server.url}/api`;
  return { url, apiKey: apiKeys[0] ?? "", clock, faults, requests, close, [Symbol.asyncDispose]: close };
}
