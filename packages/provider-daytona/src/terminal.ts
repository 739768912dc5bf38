import { randomUUID } from "node:crypto";
import type { PtyHandle, Sandbox } from "@daytonaio/sdk";
import type { Terminal, TerminalConnection } from "@sandkit/core/kit";
import { onDaytona } from "./call.js";
import { statusOf } from "./errors.js";
import { refreshed, whyUnreachable } from "./find.js";
import { PtyConnection } from "./pty-connection.js";

const size = { cols: 80, rows: 24 };
/** One message each. */
const maxSendBytes = 64 * 1024;

/** A terminal of Daytona's toolbox. Its program outlives every connection to it. */
export class PtyTerminal implements Terminal {
  readonly maxSendBytes = maxSendBytes;
  readonly #sandbox: Sandbox;
  readonly #id = `sandkit-${randomUUID()}`;
  #opened = false;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  async open(signal: AbortSignal): Promise<TerminalConnection> {
    this.#opened = true;
    try {
      return await this.#connect("open", signal, (onData) =>
        this.#sandbox.process.createPty({ id: this.#id, ...size, onData }),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw (await whyUnreachable(this.#sandbox, "open", signal)) ?? error;
    }
  }

  async reconnect(signal: AbortSignal): Promise<TerminalConnection | null> {
    try {
      return await this.#connect("reconnect", signal, (onData) =>
        this.#sandbox.process.connectPty(this.#id, { onData }),
      );
    } catch (error) {
      signal.throwIfAborted();
      // Why a socket was not let in, the SDK does not tell: whether the program lives is asked for.
      const why = await whyUnreachable(this.#sandbox, "reconnect", signal);
      if (why?.code === "SANDBOX_LOST" || (!why && (await this.#isGone(signal)))) return null;
      throw why ?? error;
    }
  }

  async end(): Promise<void> {
    if (!this.#opened) return;
    try {
      await onDaytona(this.#about("end"), () => this.#sandbox.process.killPtySession(this.#id));
    } catch (error) {
      if (statusOf(error) !== 404 && (await refreshed(this.#sandbox, "end")) === "started") throw error;
    }
  }

  async #isGone(signal: AbortSignal): Promise<boolean> {
    try {
      const session = () => this.#sandbox.process.getPtySessionInfo(this.#id);
      return !(await onDaytona(this.#about("reconnect"), session, signal)).active;
    } catch (error) {
      if (statusOf(error) === 404) return true;
      throw error;
    }
  }

  /** Given up on abort: a connection that comes after that is closed. */
  async #connect(
    operation: string,
    signal: AbortSignal,
    connect: (onData: (bytes: Uint8Array) => void) => Promise<PtyHandle>,
  ): Promise<TerminalConnection> {
    signal.throwIfAborted();
    const connecting = PtyConnection.open(this.#about(operation), connect);
    try {
      return await onDaytona(this.#about(operation), () => connecting, signal);
    } catch (error) {
      connecting.then(
        (late) => late.close(),
        () => undefined,
      );
      throw error;
    }
  }

  #about(operation: string) {
    const { id } = this.#sandbox;
    return { operation, subject: `terminal of sandbox ${id}`, sandboxId: id };
  }
}
