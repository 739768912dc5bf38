import { type BoxProcess, BoxStartError } from "../../box-process.js";
import type { E2BSandbox } from "../sandbox.js";
import { ConnectFailure } from "./connect-failure.js";
import type { ConnectCall, Send } from "./connect-protocol.js";
import { keepaliveMs } from "./keepalive.js";
import type {
  ProcessEvent,
  ProcessInput,
  ProcessSelector,
  PtyMessage,
  SelectingRequest,
  SendInputRequest,
  SendSignalRequest,
  StartRequest,
  StreamInputRequest,
  UpdateRequest,
} from "./process-messages.js";
import { RunningProcess } from "./running-process.js";
import { Subscriber } from "./subscriber.js";
import { userOf } from "./users.js";

/** `process.Process` of one sandbox. */
export class ProcessService {
  readonly #sandbox: E2BSandbox;
  readonly #processes = new Map<number, RunningProcess>();

  constructor(sandbox: E2BSandbox) {
    this.#sandbox = sandbox;
  }

  async list(): Promise<unknown> {
    const running = [...this.#processes.values()].filter((process) => process.running);
    return {
      processes: running.map(({ pid, tag, config }) => ({ config, pid, ...(tag !== undefined && { tag }) })),
    };
  }

  async start(request: StartRequest, call: ConnectCall, send: Send): Promise<void> {
    const user = userOf(call.header("authorization"));
    const subscriber = new Subscriber<ProcessEvent>(this.#sandbox.quirks.bufferedEvents);
    const box = await this.#launch(request, user);
    const process = new RunningProcess(box, request.process ?? {}, request.tag, this.#sandbox.quirks, subscriber);
    this.#keep(process);
    // The deadline ends the program itself; a client that is gone does not.
    const deadline = call.timeoutMs > 0 ? setTimeout(() => box.signal("SIGKILL"), call.timeoutMs) : undefined;
    process.ended.then(() => clearTimeout(deadline));
    await this.#relay(process, subscriber, call, send);
  }

  async connect(request: SelectingRequest, call: ConnectCall, send: Send): Promise<void> {
    const process = this.#find(request.process, { ended: true });
    await this.#relay(process, process.subscribe(), call, send);
  }

  async sendInput(request: SendInputRequest): Promise<unknown> {
    await this.#input(this.#find(request.process), request.input);
    return {};
  }

  async streamInput(requests: AsyncIterable<StreamInputRequest>): Promise<unknown> {
    let process: RunningProcess | undefined;
    for await (const { start, data } of requests) {
      if (start) process = this.#find(start.process);
      else if (data && process) await this.#input(process, data.input);
      else if (data) throw new ConnectFailure("invalid_argument", "the first message has to name the process");
    }
    return {};
  }

  async sendSignal(request: SendSignalRequest): Promise<unknown> {
    const process = this.#find(request.process);
    const { signal } = request;
    if (signal === "SIGNAL_SIGKILL" || signal === 9) await process.box.signal("SIGKILL");
    else if (signal === "SIGNAL_SIGTERM" || signal === 15) await process.box.signal("SIGTERM");
    else throw new ConnectFailure("unimplemented", `invalid signal: ${signal}`);
    return {};
  }

  async closeStdin(request: SelectingRequest): Promise<unknown> {
    const { box } = this.#find(request.process);
    if (box.program.pty) {
      throw new ConnectFailure("internal", "a process with a terminal has no stdin to close: send Ctrl+D (0x04)");
    }
    await box.closeStdin();
    return {};
  }

  async update(request: UpdateRequest): Promise<unknown> {
    const { box } = this.#find(request.process);
    if (request.pty) {
      if (!box.program.pty) throw new ConnectFailure("internal", "the process has no terminal");
      await box.resize(sizeOf(request.pty));
    }
    return {};
  }

  async #launch(request: StartRequest, user: string): Promise<BoxProcess> {
    const { cmd = "", args = [], envs = {}, cwd = "" } = request.process ?? {};
    const directory = this.#sandbox.resolve(cwd);
    const env = { ...this.#sandbox.environment(user), ...envs };
    const pty = request.pty && sizeOf(request.pty);
    const stdin = pty !== undefined || request.stdin !== false;
    try {
      return await this.#sandbox.box.start({ argv: [cmd, ...args], cwd: directory, env, stdin, pty });
    } catch (error) {
      if (!(error instanceof BoxStartError)) throw error;
      const message =
        error.what === "cwd"
          ? `cwd '${directory}' does not exist`
          : `error starting process '${[cmd, ...args].join(" ")}': ${error.errno}`;
      throw new ConnectFailure("invalid_argument", message, error);
    }
  }

  /** The start, and then what happens, until the end of the process, of the client or of its patience. */
  async #relay(process: RunningProcess, events: Subscriber<ProcessEvent>, call: ConnectCall, send: Send) {
    let keepalive: NodeJS.Timeout | undefined;
    const leave = () => process.unsubscribe(events);
    call.signal.addEventListener("abort", leave);
    try {
      await send({ event: { start: { pid: process.pid } } });
      keepalive = setInterval(() => send({ event: { keepalive: {} } }), keepaliveMs(call, this.#sandbox.quirks));
      for await (const event of events) {
        await send({ event });
        keepalive.refresh();
      }
      if (call.signal.aborted) throw call.signal.reason;
    } finally {
      clearInterval(keepalive);
      call.signal.removeEventListener("abort", leave);
      leave();
    }
  }

  #keep(process: RunningProcess): void {
    this.#processes.set(process.pid, process);
    process.ended.then(() => {
      const forget = () => {
        if (this.#processes.get(process.pid) === process) this.#processes.delete(process.pid);
      };
      this.#sandbox.clock.at(this.#sandbox.clock.now() + this.#sandbox.quirks.exitKeptMs, forget);
    });
  }

  #find(selector: ProcessSelector = {}, which = { ended: false }): RunningProcess {
    const { pid, tag } = selector;
    const all = [...this.#processes.values()];
    const found = tag === undefined ? this.#processes.get(pid ?? 0) : all.find((process) => process.tag === tag);
    if (found && (found.running || which.ended)) return found;
    const what = tag === undefined ? `pid ${pid ?? 0}` : `tag ${tag}`;
    throw new ConnectFailure("not_found", `process with ${what} not found`);
  }

  async #input({ box }: RunningProcess, input: ProcessInput = {}): Promise<void> {
    const terminal = box.program.pty !== undefined;
    if (input.pty !== undefined && terminal) await box.write(Buffer.from(input.pty, "base64"));
    else if (input.stdin !== undefined && !terminal && box.program.stdin) {
      await box.write(Buffer.from(input.stdin, "base64"));
    } else throw new ConnectFailure("internal", "error writing input: the process takes none of this kind");
  }
}

function sizeOf({ size = {} }: PtyMessage): { rows: number; columns: number } {
  return { rows: size.rows ?? 0, columns: size.cols ?? 0 };
}
