import type { PtyHandle } from "@daytonaio/sdk";
import { SandboxError } from "@sandkit/core";
import type { TerminalConnection } from "@sandkit/core/kit";
import { type CallContext, daytonaError, providerName } from "./errors.js";
import { type PtySocket, ptySocket } from "./pty-socket.js";

/** What is kept of output that nobody has taken, in bytes, before no more is read from the connection. */
const mostKeptBytes = 256 * 1024;
const brokenWords = "the connection broke";

/** One connection to a terminal, over the SDK's handle. */
export class PtyConnection implements TerminalConnection {
  readonly output: ReadableStream<Uint8Array>;
  readonly #context: CallContext;
  #handle: PtyHandle | undefined;
  #socket: PtySocket | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #held = false;
  #over = false;

  private constructor(context: CallContext) {
    this.#context = context;
    this.output = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#hold(false),
        cancel: () => {
          this.#over = true;
          return this.close();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: mostKeptBytes }),
    );
  }

  /** Connects: `connect` is given what takes the terminal's output. @throws whatever `connect` throws */
  static async open(
    context: CallContext,
    connect: (onData: (bytes: Uint8Array) => void) => Promise<PtyHandle>,
  ): Promise<PtyConnection> {
    const connection = new PtyConnection(context);
    connection.#attach(await connect((bytes) => connection.#take(bytes)));
    return connection;
  }

  async send(bytes: Uint8Array): Promise<void> {
    const socket = this.#socket;
    if (this.#over) throw this.#broken("it is closed");
    try {
      if (socket === undefined) return await this.#handle?.sendInput(bytes);
      await new Promise<void>((resolve, reject) => {
        socket.send(bytes, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      throw daytonaError(error, this.#context);
    }
  }

  async close(): Promise<void> {
    if (!this.#over) {
      this.#over = true;
      this.#controller?.close();
    }
    this.#hold(false);
    await this.#handle?.disconnect();
  }

  ref(): void {
    this.#socket?.refer("ref");
  }

  unref(): void {
    this.#socket?.refer("unref");
  }

  #attach(handle: PtyHandle): void {
    this.#handle = handle;
    this.#socket = ptySocket(handle);
    if (this.#held) this.#socket?.pause();
    // Resolves at every end of the connection; the program of the terminal has ended only where there is a code.
    handle.wait().then(
      ({ exitCode, error }) => this.#end(exitCode === undefined ? (error ?? brokenWords) : undefined),
      (error) => this.#end(error),
    );
    // One that broke before it was waited for tells nobody.
    if (!handle.isConnected() && handle.exitCode === undefined) this.#end(handle.error ?? brokenWords);
  }

  #take(bytes: Uint8Array): void {
    if (this.#over || bytes.length === 0) return;
    this.#controller?.enqueue(bytes);
    if ((this.#controller?.desiredSize ?? 1) <= 0) this.#hold(true);
  }

  #hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    if (held) this.#socket?.pause();
    else this.#socket?.resume();
  }

  #end(reason?: unknown): void {
    if (this.#over) return;
    this.#over = true;
    if (reason === undefined) this.#controller?.close();
    else this.#controller?.error(this.#broken(reason));
  }

  #broken(reason: unknown): SandboxError {
    const { operation, subject, sandboxId } = this.#context;
    const words = reason instanceof Error ? reason.message : String(reason);
    return new SandboxError("TRANSPORT", `${operation} ${subject}: ${words}`, {
      provider: providerName,
      operation,
      sandboxId,
      cause: reason,
    });
  }
}
