import { measure } from "../box-metrics.js";
import type { Exchange } from "../http/exchange.js";
import { HttpFailure } from "../http/http-failure.js";
import { type Handler, type RouteParameters, RouteTable } from "../http/route-table.js";
import type { Api } from "./api-types.js";
import { listSandboxes, pageOf } from "./list-sandboxes.js";
import { createdSandbox, sandboxDetail } from "./models.js";
import type { E2BSandbox } from "./sandbox.js";
import type { Sandboxes, Snapshot } from "./sandboxes.js";

/** How long a sandbox lives when nothing is said, in seconds: as the newer paths have it, and the older. */
const newerDefault = 300;
const olderDefault = 15;

/** E2B's control API over the sandboxes of one emulator. */
export class ControlApi {
  readonly #sandboxes: Sandboxes;
  readonly #keys: readonly string[];
  readonly #routes: RouteTable;

  constructor(sandboxes: Sandboxes, keys: readonly string[], networkIsRecorded: boolean) {
    this.#sandboxes = sandboxes;
    this.#keys = keys;
    this.#routes = new RouteTable({
      "GET /health": (exchange) => exchange.bytes(200, Buffer.from("Health check successful")),
      "POST /v2/sandboxes": (exchange) => this.#create(exchange, { secure: true, timeout: newerDefault }),
      "POST /sandboxes": (exchange) => this.#create(exchange, { secure: false, timeout: olderDefault }),
      "GET /v2/sandboxes": (exchange) => this.#list(exchange),
      "GET /sandboxes": (exchange) => this.#listRunning(exchange),
      "GET /sandboxes/:id": this.#on((exchange, sandbox) => exchange.json(200, sandboxDetail(sandbox))),
      "DELETE /sandboxes/:id": this.#on((exchange, sandbox) => this.#kill(exchange, sandbox)),
      "POST /sandboxes/:id/timeout": this.#on((exchange, sandbox) => this.#timeout(exchange, sandbox)),
      "POST /sandboxes/:id/refreshes": this.#on((exchange, sandbox) => this.#refresh(exchange, sandbox)),
      "POST /v2/sandboxes/:id/connect": this.#on((exchange, sandbox) => this.#connect(exchange, sandbox)),
      "POST /sandboxes/:id/connect": this.#on((exchange, sandbox) => this.#connect(exchange, sandbox)),
      "POST /sandboxes/:id/resume": this.#on((exchange, sandbox) => this.#resume(exchange, sandbox)),
      "POST /sandboxes/:id/pause": this.#on((exchange, sandbox) => this.#pause(exchange, sandbox)),
      "POST /sandboxes/:id/fork": this.#on((exchange, sandbox) => this.#fork(exchange, sandbox)),
      "POST /sandboxes/:id/snapshots": this.#on((exchange, sandbox) => this.#snapshot(exchange, sandbox)),
      "GET /sandboxes/:id/metrics": this.#on((exchange, sandbox) => this.#metrics(exchange, sandbox)),
      "PUT /sandboxes/:id/network": this.#on((exchange, sandbox) =>
        this.#network(exchange, sandbox, networkIsRecorded),
      ),
      "GET /snapshots": (exchange) => this.#listSnapshots(exchange),
      "DELETE /templates/:id": (exchange, parameters) => this.#deleteTemplate(exchange, parameters),
    });
  }

  /** @throws HttpFailure 401, 404, 501 for what E2B has and this has not; and what the routes throw */
  async handle(exchange: Exchange): Promise<void> {
    const route = this.#routes.find(exchange.method, exchange.path);
    if (exchange.path !== "/health") this.#authenticate(exchange);
    if (route) return route(exchange);
    if (this.#routes.knows(exchange.path)) throw new HttpFailure(405, "method not allowed");
    throw new HttpFailure(501, `${exchange.method} ${exchange.path} is not emulated`);
  }

  #authenticate(exchange: Exchange): void {
    const key = exchange.header("x-api-key");
    if (key === undefined) throw new HttpFailure(401, "no API key: set the header X-API-Key");
    if (!this.#keys.includes(key)) throw new HttpFailure(401, "invalid API key");
  }

  #on(act: (exchange: Exchange, sandbox: E2BSandbox) => Promise<void>): Handler {
    return (exchange, { id = "" }) => act(exchange, this.#sandboxes.find(id));
  }

  async #create(exchange: Exchange, defaults: { readonly secure: boolean; readonly timeout: number }): Promise<void> {
    const asked = { ...defaults, ...(await exchange.readJson<Api["NewSandbox"]>()) };
    if (!asked.templateID) throw new HttpFailure(400, "templateID is missing");
    const sandbox = await this.#sandboxes.create(asked);
    await exchange.json(201, createdSandbox(sandbox));
  }

  async #list(exchange: Exchange): Promise<void> {
    const all = this.#sandboxes.all();
    const running = all.filter(({ state }) => state === "running").length;
    const { items, nextToken } = listSandboxes(all, exchange.query);
    await exchange.json(200, items, { "x-total-running": String(running), ...nextHeader(nextToken) });
  }

  async #listRunning(exchange: Exchange): Promise<void> {
    const running = this.#sandboxes.all().filter(({ state }) => state === "running");
    await exchange.json(200, listSandboxes(running, exchange.query).items);
  }

  async #kill(exchange: Exchange, sandbox: E2BSandbox): Promise<void> {
    await this.#sandboxes.kill(sandbox);
    await exchange.bytes(204, undefined);
  }

  async #timeout(exchange: Exchange, sandbox: E2BSandbox): Promise<void> {
    const { timeout = Number.NaN } = await exchange.readJson<{ timeout?: number }>();
    mustRun(sandbox, 404);
    sandbox.setTimeout(this.#sandboxes.checkTimeout(timeout));
    await exchange.bytes(204, undefined);
  }

  async #refresh(exchange: Exchange, sandbox: E2BSandbox): Promise<void> {
    const { duration = olderDefault } = await exchange.readJson<{ duration?: number }>();
    mustRun(sandbox, 404);
    sandbox.extend(this.#sandboxes.checkTimeout(duration));
    await exchange.bytes(204, undefined);
  }

  async #connect(exchange: Exchange, sandbox: E2BSandbox): Promise<void> {
    const { timeout = newerDefault, memory } = await exchange.readJson<Api["ConnectSandboxV2"]>();
    const seconds = this.#sandboxes.checkTimeout(timeout);
    const resumes = sandbox.state === "paused";
    if (resumes) await sandbox.resume(memory !== false, seconds);
    else sandbox.extend(seconds);
    await exchange.json(resumes ? 201 : 200, createdSandbox(sandbox));
  }

  async #resume(exchange: Exchange, sandbox: E2BSandbox): Promise<void> {
    const { timeout = olderDefault, memory } = await exchange.readJson<Api["ResumedSandbox"]>();
    if (sandbox.state !== "paused") throw new HttpFailure(409, `sandbox ${sandbox.id} is already running`);
    await sandbox.resume(memory !== false, this.#sandboxes.checkTimeout(timeout));
    await exchange.json(201, createdSandbox(sandbox));
  }

  async #pause(exchange: Exchange, sandbox: E2BSandbox): Promise<void> {
    const { memory } = await exchange.readJson<{ memory?: boolean }>();
    mustRun(sandbox, 409);
    await sandbox.pause(memory !== false);
    await exchange.bytes(204, undefined);
  }

  async #fork(exchange: Exchange, sandbox: E2BSandbox): Promise<void> {
    const { count = 1, timeout = olderDefault } = await exchange.readJson<Api["SandboxForkRequest"]>();
    mustRun(sandbox, 409);
    const seconds = this.#sandboxes.checkTimeout(timeout);
    const home = await sandbox.box.save();
    const results: Api["SandboxForkResult"][] = [];
    for (let made = 0; made < count; made += 1) {
      try {
        results.push({ sandbox: createdSandbox(await this.#sandboxes.fork(sandbox, home, seconds)) });
      } catch (error) {
        if (!(error instanceof HttpFailure)) throw error;
        results.push({ error: { code: error.status, message: error.message } });
      }
    }
    await exchange.json(201, results);
  }

  async #snapshot(exchange: Exchange, sandbox: E2BSandbox): Promise<void> {
    const { name } = await exchange.readJson<{ name?: string }>();
    await exchange.json(201, snapshotInfo(await this.#sandboxes.snapshot(sandbox, name)));
  }

  async #metrics(exchange: Exchange, sandbox: E2BSandbox): Promise<void> {
    if (sandbox.state !== "running") return exchange.json(200, []);
    const now = sandbox.clock.now();
    const { ts: _, ...measured } = await measure(sandbox.box, now);
    const metric: Api["SandboxMetric"] = {
      cpuCount: measured.cpu_count,
      cpuUsedPct: measured.cpu_used_pct,
      memTotal: measured.mem_total,
      memUsed: measured.mem_used,
      memCache: measured.mem_cache,
      diskUsed: measured.disk_used,
      diskTotal: measured.disk_total,
      timestamp: new Date(now).toISOString(),
      timestampUnix: Math.floor(now / 1000),
    };
    await exchange.json(200, [metric]);
  }

  async #network(exchange: Exchange, sandbox: E2BSandbox, recorded: boolean): Promise<void> {
    const wish = await exchange.readJson<Api["SandboxNetworkUpdateConfig"]>();
    mustRun(sandbox, 409);
    if (!recorded) {
      const next = 'start the emulator with network: "record" to have the wish recorded without being enforced';
      throw new HttpFailure(501, `no provider can change the network of a living machine: ${next}`);
    }
    const { allow_internet_access, ...network } = wish;
    const { allowPublicTraffic, maskRequestHost, httpsPorts } = sandbox.network ?? {};
    sandbox.allowInternetAccess = allow_internet_access;
    sandbox.network = JSON.parse(JSON.stringify({ allowPublicTraffic, maskRequestHost, httpsPorts, ...network }));
    await exchange.bytes(204, undefined);
  }

  async #listSnapshots(exchange: Exchange): Promise<void> {
    const sandboxID = exchange.query.get("sandboxID");
    const name = exchange.query.get("name");
    const found = [...this.#sandboxes.snapshots.values()]
      .reverse()
      .filter((one) => sandboxID === null || one.sandboxID === sandboxID)
      .filter((one) => name === null || one.id === name || one.names.includes(name));
    const { items, nextToken } = pageOf(found, exchange.query);
    await exchange.json(200, items.map(snapshotInfo), nextHeader(nextToken));
  }

  async #deleteTemplate(exchange: Exchange, { id = "" }: RouteParameters): Promise<void> {
    if (!this.#sandboxes.snapshots.delete(id)) throw new HttpFailure(404, `template '${id}' not found`);
    await exchange.bytes(204, undefined);
  }
}

function mustRun(sandbox: E2BSandbox, status: 404 | 409): void {
  if (sandbox.state === "running") return;
  throw new HttpFailure(status, `sandbox ${sandbox.id} is ${sandbox.state}, not running`);
}

function snapshotInfo({ id, names }: Snapshot): Api["SnapshotInfo"] {
  return { snapshotID: id, names: [...names] };
}

function nextHeader(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { "x-next-token": token };
}
