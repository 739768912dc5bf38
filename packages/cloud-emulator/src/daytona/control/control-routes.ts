import { randomBytes } from "node:crypto";
import type {
  CreateSandbox,
  CreateSandboxSnapshot,
  ForkSandbox,
  SandboxLabels,
  UpdateSandboxNetworkSettings,
} from "@daytona/api-client";
import type { Clock } from "../../clock.js";
import type { Exchange } from "../../http/exchange.js";
import type { Handler, RouteParameters } from "../../http/route-table.js";
import { apiFailure } from "../api-failure.js";
import type { DaytonaOptions } from "../options.js";
import type { CloudSandbox, Intervals } from "./cloud-sandbox.js";
import type { Lifetimes } from "./lifetimes.js";
import { listPage } from "./list.js";
import type { Sandboxes } from "./sandboxes.js";
import { networkOf } from "./starting-point.js";

/** What the routes of the control API act on. */
export interface ControlContext {
  readonly options: DaytonaOptions;
  readonly clock: Clock;
  readonly sandboxes: Sandboxes;
  readonly lifetimes: Lifetimes;
  /** Where the programs in the sandboxes answer. */
  readonly toolboxProxyUrl: () => string;
}

/** A route of one sandbox: what it gives is the answer, by default the sandbox. */
type SandboxHandler = (sandbox: CloudSandbox, exchange: Exchange, parameters: RouteParameters) => unknown;

/** `/sandbox`: their making, finding, and the changes of their states and settings. */
export function sandboxRoutes(context: ControlContext): Record<string, Handler> {
  const { sandboxes, toolboxProxyUrl } = context;
  const answer = (exchange: Exchange, sandbox: CloudSandbox, status = 200) =>
    exchange.json(status, sandbox.dto(toolboxProxyUrl()));
  const route =
    (handler: SandboxHandler): Handler =>
    async (exchange, parameters) => {
      const sandbox = sandboxes.get(parameters.id ?? "");
      await handler(sandbox, exchange, parameters);
      if (!exchange.started) await answer(exchange, sandbox);
    };
  /** Begins a change of state; what comes of it is told by the state. */
  const change = (begin: (sandbox: CloudSandbox) => Promise<void>) => route((sandbox) => begun(begin(sandbox)));

  return {
    "POST /sandbox": async (exchange) => {
      const sandbox = sandboxes.create(await exchange.readJson<CreateSandbox>());
      await answer(exchange, sandbox);
    },
    "GET /sandbox": async (exchange) => {
      const { sandboxes: found, nextCursor } = listPage(sandboxes.all, exchange.query);
      await exchange.json(200, { items: found.map((one) => one.listItem(toolboxProxyUrl())), nextCursor });
    },
    "GET /sandbox/:id": route(() => undefined),
    "DELETE /sandbox/:id": change((sandbox) => sandboxes.delete(sandbox)),
    "POST /sandbox/:id/start": change((sandbox) => sandboxes.start(sandbox)),
    "POST /sandbox/:id/stop": change((sandbox) => sandboxes.stop(sandbox)),
    "POST /sandbox/:id/pause": change((sandbox) => sandboxes.pause(sandbox)),
    "POST /sandbox/:id/archive": change((sandbox) => sandboxes.archive(sandbox)),
    "POST /sandbox/:id/recover": route(() => {
      throw apiFailure(400, "Sandbox is not in a recoverable error state");
    }),
    "POST /sandbox/:id/snapshot": route(async (sandbox, exchange) => {
      const { name } = await exchange.readJson<CreateSandboxSnapshot>();
      await begun(sandboxes.snapshot(sandbox, name));
    }),
    "POST /sandbox/:id/fork": route(async (sandbox, exchange) => {
      const { name } = await exchange.readJson<ForkSandbox>();
      await answer(exchange, sandboxes.fork(sandbox, name));
    }),
    "PUT /sandbox/:id/labels": route(async (sandbox, exchange) => {
      const { labels } = await exchange.readJson<SandboxLabels>();
      sandbox.labels = { ...labels };
      await exchange.json(200, { labels });
    }),
    ...settingRoutes(context, route),
  };
}

function settingRoutes(
  { options, clock, lifetimes, toolboxProxyUrl }: ControlContext,
  route: (handler: SandboxHandler) => Handler,
): Record<string, Handler> {
  const interval = (name: keyof Intervals, least: number) =>
    route((sandbox, _exchange, parameters) => {
      const minutes = wholeNumber(parameters.minutes, least);
      if (name === "autoPause" && minutes > 0 && sandbox.sandboxClass === "container") {
        throw apiFailure(400, "Auto-pause is not supported for sandboxes of class container");
      }
      sandbox.intervals[name] = minutes;
      if (minutes > 0 && name === "autoStop") sandbox.intervals.autoPause = 0;
      if (minutes > 0 && name === "autoPause") sandbox.intervals.autoStop = 0;
      lifetimes.rearm(sandbox);
    });

  return {
    "POST /sandbox/:id/autostop/:minutes": interval("autoStop", 0),
    "POST /sandbox/:id/autopause/:minutes": interval("autoPause", 0),
    "POST /sandbox/:id/autoarchive/:minutes": interval("autoArchive", 0),
    "POST /sandbox/:id/autodelete/:minutes": interval("autoDelete", Number.NEGATIVE_INFINITY),
    "POST /sandbox/:id/ttl/:minutes": route((sandbox, _exchange, parameters) => {
      const minutes = wholeNumber(parameters.minutes, 0);
      sandbox.destroyAt = minutes === 0 ? undefined : clock.now() + minutes * 60_000;
      lifetimes.rearm(sandbox);
    }),
    "POST /sandbox/:id/last-activity": route(async (sandbox, exchange) => {
      sandbox.lastActivityAt = clock.now();
      await exchange.bytes(201, undefined);
    }),
    "POST /sandbox/:id/public/:value": route((sandbox, _exchange, parameters) => {
      sandbox.isPublic = parameters.value === "true";
    }),
    "POST /sandbox/:id/network-settings": route(async (sandbox, exchange) => {
      const wish = await exchange.readJson<UpdateSandboxNetworkSettings>();
      const { network } = networkOf(options, wish);
      // A machine that runs already keeps what its provider gave it.
      if (network !== undefined && options.network !== "record") {
        throw apiFailure(501, `this emulator cannot change the network of a living sandbox`);
      }
      sandbox.network = { ...sandbox.network, ...wish };
    }),
    "GET /sandbox/:id/toolbox-proxy-url": route((_sandbox, exchange) => exchange.json(200, { url: toolboxProxyUrl() })),
    "GET /sandbox/:id/signing-key": route((sandbox, exchange) => exchange.json(200, sandbox.signingKey)),
    "POST /sandbox/:id/signing-key/rotate": route(async (sandbox, exchange) => {
      sandbox.signingKey = randomBytes(32).toString("hex");
      await exchange.json(200, sandbox.signingKey);
    }),
  };
}

/** Throws what could not even begin; what happens later shows in the state. */
async function begun(work: Promise<void>): Promise<void> {
  await Promise.race([work, new Promise((resolve) => setImmediate(resolve))]);
}

function wholeNumber(text: string | undefined, least: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < least) throw apiFailure(400, `${text} is not a valid number of minutes`);
  return number;
}
