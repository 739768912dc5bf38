import { measure } from "../../box-metrics.js";
import type { Exchange } from "../../http/exchange.js";
import { HttpFailure } from "../../http/http-failure.js";
import type { E2BSandbox } from "../sandbox.js";
import {
  answerClientStream,
  answerServerStream,
  answerUnary,
  type ClientStream,
  type ServerStream,
  type Unary,
} from "./connect-protocol.js";
import { FilesEndpoint } from "./files-endpoint.js";
import { FilesystemService } from "./filesystem-service.js";
import { ProcessService } from "./process-service.js";
import { Watchers } from "./watchers.js";

type Answer = (exchange: Exchange) => Promise<void>;

/** The agent of one sandbox: what answers at its port 49983. */
export class Envd {
  readonly #sandbox: E2BSandbox;
  readonly #files: FilesEndpoint;
  readonly #answers: Readonly<Record<string, Answer>>;

  constructor(sandbox: E2BSandbox) {
    this.#sandbox = sandbox;
    this.#files = new FilesEndpoint(sandbox);
    const process = new ProcessService(sandbox);
    const files = new FilesystemService(sandbox);
    const watchers = new Watchers(sandbox);
    const unary = (method: Unary) => (exchange: Exchange) => answerUnary(exchange, method);
    const stream = (method: ServerStream) => (exchange: Exchange) => answerServerStream(exchange, method);
    const upstream = (method: ClientStream) => (exchange: Exchange) => answerClientStream(exchange, method);
    this.#answers = {
      "GET /metrics": async (exchange) => exchange.json(200, await measure(sandbox.box, sandbox.clock.now())),
      "GET /envs": (exchange) => exchange.json(200, sandbox.plan.envVars),
      "GET /files": (exchange) => this.#files.download(exchange),
      "POST /files": (exchange) => this.#files.upload(exchange),
      "POST /process.Process/List": unary(() => process.list()),
      "POST /process.Process/Start": stream((request, call, send) => process.start(request, call, send)),
      "POST /process.Process/Connect": stream((request, call, send) => process.connect(request, call, send)),
      "POST /process.Process/SendInput": unary((request) => process.sendInput(request)),
      "POST /process.Process/StreamInput": upstream((requests) => process.streamInput(requests)),
      "POST /process.Process/SendSignal": unary((request) => process.sendSignal(request)),
      "POST /process.Process/CloseStdin": unary((request) => process.closeStdin(request)),
      "POST /process.Process/Update": unary((request) => process.update(request)),
      "POST /filesystem.Filesystem/WatchDir": stream((request, call, send) => watchers.watchDir(request, call, send)),
      "POST /filesystem.Filesystem/CreateWatcher": unary((request, call) => watchers.create(request, call)),
      "POST /filesystem.Filesystem/GetWatcherEvents": unary((request) => watchers.events(request)),
      "POST /filesystem.Filesystem/RemoveWatcher": unary((request) => watchers.remove(request)),
      "POST /filesystem.Filesystem/Stat": unary((request, call) => files.stat(request, call)),
      "POST /filesystem.Filesystem/MakeDir": unary((request, call) => files.makeDir(request, call)),
      "POST /filesystem.Filesystem/Move": unary((request, call) => files.move(request, call)),
      "POST /filesystem.Filesystem/ListDir": unary((request, call) => files.listDir(request, call)),
      "POST /filesystem.Filesystem/Remove": unary((request, call) => files.remove(request, call)),
    };
  }

  /** @throws HttpFailure 401, 404, 501 */
  async handle(exchange: Exchange): Promise<void> {
    if (exchange.method === "GET" && exchange.path === "/health") return exchange.bytes(204, undefined);
    const answer = this.#answers[`${exchange.method} ${exchange.path}`];
    // 404 is what Connect's clients take for a method that is not there.
    const missing = exchange.path.includes(".") ? 404 : 501;
    if (!answer) throw new HttpFailure(missing, `${exchange.method} ${exchange.path} is not emulated`);
    // Files have a way of their own to be let in: a signature in the address.
    if (exchange.path !== "/files" || !exchange.query.has("signature")) this.#authenticate(exchange);
    await answer(exchange);
  }

  /** Whether the address of a file was signed with this sandbox's token. */
  signed(exchange: Exchange): boolean {
    return this.#files.signed(exchange);
  }

  #authenticate(exchange: Exchange): void {
    const { accessToken } = this.#sandbox;
    if (accessToken === undefined || exchange.header("x-access-token") === accessToken) return;
    throw new HttpFailure(
      401,
      "unauthorized access, please provide a valid access token or method signing if supported",
    );
  }
}
