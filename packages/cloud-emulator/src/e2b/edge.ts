import { messageOf } from "@sandkit/core";
import type { Exchange } from "../http/exchange.js";
import { HttpFailure } from "../http/http-failure.js";
import { refuseUpgrade, type Upgrade } from "../http/listen.js";
import { proxyRequest, proxyUpgrade } from "../http/proxy.js";
import type { ControlApi } from "./control.js";
import type { E2BSandbox } from "./sandbox.js";
import type { Sandboxes } from "./sandboxes.js";

const envdPort = 49_983;
const sandboxHost = /^(\d+)-([a-z0-9]+)\./i;

/** Which port of which sandbox a request is for. */
interface Target {
  readonly id: string;
  readonly port: number;
}

/** E2B's edge: sends each request to the control API, to envd, or to a server in a sandbox. */
export class Edge {
  readonly #sandboxes: Sandboxes;
  readonly #control: ControlApi;

  constructor(sandboxes: Sandboxes, control: ControlApi) {
    this.#sandboxes = sandboxes;
    this.#control = control;
  }

  async handle(exchange: Exchange): Promise<void> {
    const target = targetOf(exchange) ?? this.#signed(exchange);
    if (!target) return this.#control.handle(exchange);
    const sandbox = await this.#reach(target);
    sandbox.track(exchange);
    if (target.port === envdPort) return sandbox.envd.handle(exchange);
    letTrafficIn(sandbox, exchange.header("e2b-traffic-access-token"));
    const connection = await sandbox.box.connect(target.port);
    if (!connection) throw portClosed(target);
    await proxyRequest(exchange, connection);
  }

  /** Hands an upgrade, such as that to a WebSocket, on to the server in the sandbox that it is for. */
  async upgrade({ request, socket, head, record }: Upgrade): Promise<void> {
    const header = (name: string) => String(request.headers[name] ?? "") || undefined;
    const target = targetOf({ header });
    if (!target || target.port === envdPort) {
      return refuseUpgrade(socket, 501, "only servers in sandboxes take upgrades\n");
    }
    try {
      const sandbox = await this.#reach(target);
      letTrafficIn(sandbox, header("e2b-traffic-access-token"));
      const connection = await sandbox.box.connect(target.port);
      if (!connection) throw portClosed(target);
      sandbox.trackSocket(socket);
      record.status = 101;
      proxyUpgrade(request, socket, head, connection);
    } catch (error) {
      const status = error instanceof HttpFailure ? error.status : 502;
      const body = error instanceof Unreachable ? error.body : { message: messageOf(error) };
      record.status = status;
      refuseUpgrade(socket, status, JSON.stringify(body), { "content-type": "application/json" });
    }
  }

  /** Answers for what {@link handle} threw. */
  async failed(exchange: Exchange, error: unknown): Promise<void> {
    if (error instanceof Unreachable) return exchange.json(502, error.body);
    const { status, message, headers } = error instanceof HttpFailure ? error : new HttpFailure(500, messageOf(error));
    await exchange.json(status, { code: status, message }, headers);
  }

  /** @throws Unreachable when it does not run */
  async #reach(target: Target): Promise<E2BSandbox> {
    const sandbox = this.#sandboxes.get(target.id);
    if (!sandbox) throw sandboxGone(target);
    if (sandbox.state === "paused" && sandbox.plan.autoResume) await sandbox.resume(true, sandbox.timeout);
    if (sandbox.state !== "running") throw sandboxGone(target);
    return sandbox;
  }

  /** An address of a file that the SDK made names no sandbox on a shared domain: its signature does. */
  #signed(exchange: Exchange): Target | undefined {
    if (exchange.path !== "/files") return undefined;
    const found = this.#sandboxes.all().find((sandbox) => sandbox.envd.signed(exchange));
    return found && { id: found.id, port: envdPort };
  }
}

/** What a request says of its target: two headers, or its host. */
function targetOf(exchange: { header(name: string): string | undefined }): Target | undefined {
  const id = exchange.header("e2b-sandbox-id");
  if (id !== undefined) return { id, port: Number(exchange.header("e2b-sandbox-port") ?? envdPort) };
  const [, port, name] = sandboxHost.exec(exchange.header("host") ?? "") ?? [];
  return name === undefined ? undefined : { id: name, port: Number(port) };
}

function letTrafficIn(sandbox: E2BSandbox, token: string | undefined): void {
  if (sandbox.trafficToken === undefined || sandbox.trafficToken === token) return;
  throw new HttpFailure(403, "this sandbox takes only requests with a valid e2b-traffic-access-token");
}

/** The edge finds nobody to hand a request on to. */
class Unreachable extends Error {
  /** Of the answer, which is always a 502. */
  readonly body: unknown;

  constructor(sandboxId: string, message: string, port?: number) {
    super(message);
    this.body = { sandboxId, message, ...(port !== undefined && { port }), code: 502 };
  }
}

function portClosed({ id, port }: Target): Unreachable {
  return new Unreachable(id, "The sandbox is running but port is not open", port);
}

function sandboxGone({ id }: Target): Unreachable {
  return new Unreachable(id, "The sandbox was not found");
}
