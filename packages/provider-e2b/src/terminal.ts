import type { SandboxError } from "@sandkit/core";
import type { Terminal, TerminalConnection } from "@sandkit/core/kit";
import type { CommandHandle, Sandbox } from "e2b";
import { believe } from "./believe.js";
import { type CallOptions, call } from "./call.js";
import type { E2BClient } from "./client.js";
import { e2bError } from "./errors.js";
import { PtyOutput } from "./pty-output.js";

const size = { cols: 80, rows: 24 };
/** What carries our bytes must be nothing that programs of the sandbox can read or stop. */
const root = "root";
/** One request each, in base64: larger ones win nothing, and a lost one costs more. */
const maxSendBytes = 64 * 1024;
const sendDeadlineMs = 30_000;
const endDeadlineMs = 5_000;

/** Where terminals of one sandbox are opened: the SDK's object is another one after a resume. */
export interface TerminalHost {
  readonly client: E2BClient;
  readonly sandbox: Sandbox;
}

/** A terminal of envd. Its program outlives every connection to it. */
export class PtyTerminal implements Terminal {
  readonly maxSendBytes = maxSendBytes;
  readonly #host: TerminalHost;
  readonly #user: string;
  #pid: number | undefined;

  constructor(host: TerminalHost, user = root) {
    this.#host = host;
    this.#user = user;
  }

  async open(signal: AbortSignal): Promise<TerminalConnection> {
    const { sandbox } = this.#host;
    // One that may have been opened is nobody's then: whoever starts on it takes another.
    const connection = await this.#connect("open", { signal, again: "refused" }, (output, attempt) =>
      sandbox.pty.create({ ...size, user: this.#user, ...attempt, timeoutMs: 0, onData: output.write }),
    );
    this.#pid = connection.pid;
    return connection;
  }

  async reconnect(signal: AbortSignal): Promise<TerminalConnection | null> {
    const pid = this.#pid;
    if (pid === undefined) return null;
    const { sandbox } = this.#host;
    try {
      return await this.#connect("reconnect", { signal }, (output, attempt) =>
        sandbox.pty.connect(pid, { ...attempt, timeoutMs: 0, onData: output.write }),
      );
    } catch (reason) {
      const error = this.#error("reconnect", reason);
      // The sandbox was asked for: it runs, and this program is not in it. Or it is gone, and the program with it.
      if (error.code === "NOT_FOUND" || error.code === "SANDBOX_LOST") return null;
      throw reason;
    }
  }

  async end(): Promise<void> {
    const pid = this.#pid;
    if (pid === undefined) return;
    const { sandbox } = this.#host;
    try {
      await this.#call("end", (attempt) => sandbox.pty.kill(pid, attempt), { deadlineMs: endDeadlineMs });
    } catch (reason) {
      if (this.#error("end", reason).code !== "SANDBOX_LOST") throw reason;
    }
  }

  async #connect(
    operation: string,
    options: CallOptions & { readonly signal: AbortSignal },
    start: (output: PtyOutput, attempt: { requestTimeoutMs: number; signal: AbortSignal }) => Promise<CommandHandle>,
  ): Promise<PtyConnection> {
    const { signal } = options;
    return this.#call(
      operation,
      async ({ requestTimeoutMs }) => {
        const output = new PtyOutput();
        // What the SDK is given stays with the stream for as long as it lives: the caller's signal is for the start.
        const starting = new AbortController();
        const giveUp = () => starting.abort(signal.reason);
        signal.addEventListener("abort", giveUp, { once: true });
        try {
          signal.throwIfAborted();
          const handle = await start(output, { requestTimeoutMs, signal: starting.signal });
          return new PtyConnection(handle, output, (data) => this.#send(handle.pid, data));
        } finally {
          signal.removeEventListener("abort", giveUp);
        }
      },
      options,
    );
  }

  async #send(pid: number, data: Uint8Array): Promise<void> {
    const { sandbox } = this.#host;
    // Never again: of one that failed nobody knows whether the program has got it.
    await this.#call("send", (attempt) => sandbox.pty.sendInput(pid, data, attempt), {
      deadlineMs: sendDeadlineMs,
      again: "never",
    });
  }

  #call<T>(
    operation: string,
    make: (attempt: { requestTimeoutMs: number; signal?: AbortSignal }) => Promise<T>,
    options: CallOptions,
  ): Promise<T> {
    const { client, sandbox } = this.#host;
    return call(
      this.#about(operation),
      ({ requestTimeoutMs, signal }) => make({ requestTimeoutMs, ...(signal && { signal }) }),
      {
        ...options,
        believe: (error) => believe(client, sandbox.sandboxId, error),
      },
    );
  }

  #about(operation: string) {
    const { sandboxId } = this.#host.sandbox;
    return { operation, subject: `terminal of sandbox ${sandboxId}`, sandboxId };
  }

  #error(operation: string, reason: unknown): SandboxError {
    return e2bError(reason, this.#about(operation));
  }
}

/** One stream of a terminal's output, and the requests that bring input to it. */
class PtyConnection implements TerminalConnection {
  readonly output: ReadableStream<Uint8Array>;
  readonly send: (bytes: Uint8Array) => Promise<void>;
  readonly #handle: CommandHandle;
  readonly #output: PtyOutput;

  constructor(handle: CommandHandle, output: PtyOutput, send: (bytes: Uint8Array) => Promise<void>) {
    this.#handle = handle;
    this.#output = output;
    this.output = output.stream;
    this.send = send;
    const over = (reason?: unknown) => (handle.exitCode === undefined ? output.fail(reason) : output.end());
    handle.wait().then(() => output.end(), over);
  }

  get pid(): number {
    return this.#handle.pid;
  }

  async close(): Promise<void> {
    this.#output.end();
    await this.#handle.disconnect();
  }
}
