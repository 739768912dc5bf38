import type { PtySessionInfo } from "@daytona/toolbox-api-client";
import type { RawData, WebSocket } from "ws";
import type { BoxProcess } from "../../box-process.js";
import type { EmulatedBox } from "../../emulated-box.js";
import { exitCodeOf, killGroup } from "./run.js";
import { sendFrame } from "./web-socket.js";

/** How a terminal is asked for, complete. */
export interface PtyRequest {
  readonly id: string;
  readonly columns: number;
  readonly rows: number;
  readonly cwd: string;
  /** The whole of what is added to the environment of the box. */
  readonly env: Readonly<Record<string, string>>;
  readonly lazyStart: boolean;
}

interface Client {
  readonly socket: WebSocket;
  /** Whether it wants to be told of the end in a message of its own, not only in the reason of the close. */
  readonly exitControl: boolean;
}

interface Exit {
  readonly exitCode: number;
  readonly exitReason: string | undefined;
}

/** Input taken from a client that the program has not read, in bytes; above it the client has to wait. */
const inputBacklogBytes = 1024 * 1024;

/** One terminal in a sandbox, and the clients that look at it. What is written while there is no client is lost. */
export class Pty {
  /** Settles when its program has ended and the clients have been told. */
  readonly over: Promise<void>;
  readonly #box: EmulatedBox;
  readonly #request: PtyRequest;
  readonly #createdAt = new Date().toISOString();
  readonly #backlogBytes: number;
  readonly #clients = new Set<Client>();
  #setOver: () => void = () => undefined;
  #size: { columns: number; rows: number };
  #shell: Promise<BoxProcess> | undefined;
  #exit: Exit | undefined;

  constructor(box: EmulatedBox, request: PtyRequest, backlogBytes: number) {
    this.#box = box;
    this.#request = request;
    this.#backlogBytes = backlogBytes;
    this.#size = { columns: request.columns, rows: request.rows };
    this.over = new Promise((resolve) => {
      this.#setOver = resolve;
    });
  }

  /** What the service tells of it. */
  get info(): PtySessionInfo {
    const { id, cwd, env, lazyStart } = this.#request;
    const { columns: cols, rows } = this.#size;
    const active = this.#shell !== undefined;
    return { id, active, cols, rows, cwd, envs: { ...env }, createdAt: this.#createdAt, lazyStart };
  }

  /** Starts the shell, if none runs yet. @throws BoxStartError when it cannot be started */
  async start(): Promise<BoxProcess> {
    this.#shell ??= this.#spawn().catch((error) => {
      this.#setOver();
      throw error;
    });
    return this.#shell;
  }

  /** Lets a client see what is written from now on, and type. */
  async attach(client: Client): Promise<void> {
    const shell = await this.start();
    const { socket } = client;
    socket.on("close", () => this.#clients.delete(client));
    this.#type(shell, socket);
    socket.resume();
    const told = sendFrame(socket, JSON.stringify({ type: "control", status: "connected" }));
    this.#clients.add(client);
    if (this.#exit) await this.#tellExit(client, this.#exit);
    await told;
  }

  async resize(columns: number, rows: number): Promise<void> {
    this.#size = { columns, rows };
    await (await this.#shell)?.resize(this.#size);
  }

  /** Kills the shell and its group; what has left the group lives on. */
  async kill(): Promise<void> {
    const shell = await this.#shell;
    if (shell) await killGroup(this.#box, shell);
    else this.#setOver();
  }

  async #spawn(): Promise<BoxProcess> {
    const { cwd, env } = this.#request;
    const shell = await this.#box.start({
      argv: [this.#box.shell],
      cwd,
      env: { TERM: "xterm-256color", ...env },
      stdin: true,
      pty: this.#size,
    });
    this.#show(shell)
      // The machine is gone: all that its clients can be told is the end of their connections.
      .catch(() => this.#cut())
      .finally(this.#setOver);
    return shell;
  }

  /** Hands all that is written to all clients, until the shell has ended. */
  async #show(shell: BoxProcess): Promise<void> {
    for await (const { bytes } of shell.output()) {
      await Promise.all([...this.#clients].map((client) => this.#send(client, bytes)));
    }
    const end = await shell.exited;
    this.#exit = { exitCode: exitCodeOf(end), exitReason: end.signal ? `signal: ${end.signal}` : undefined };
    for (const client of this.#clients) await this.#tellExit(client, this.#exit);
  }

  async #tellExit({ socket, exitControl }: Client, exit: Exit): Promise<void> {
    if (exitControl) await sendFrame(socket, JSON.stringify({ type: "control", status: "exited", ...exit }));
    socket.close(1000, JSON.stringify(exit));
  }

  #cut(): void {
    for (const { socket } of this.#clients) socket.terminate();
  }

  async #send({ socket }: Client, bytes: Uint8Array): Promise<void> {
    const sent = sendFrame(socket, bytes);
    if (socket.bufferedAmount > this.#backlogBytes) socket.terminate();
    else if (this.#backlogBytes === Number.POSITIVE_INFINITY) await sent;
  }

  #type(shell: BoxProcess, socket: WebSocket): void {
    let waiting = 0;
    let last = Promise.resolve();
    socket.on("message", (data: RawData) => {
      const bytes = toBytes(data);
      waiting += bytes.length;
      if (waiting > inputBacklogBytes) socket.pause();
      last = last
        .then(() => shell.write(bytes))
        // The terminal is lost: nobody will answer this client any more.
        .catch(() => socket.terminate())
        .finally(() => {
          waiting -= bytes.length;
          if (waiting <= inputBacklogBytes) socket.resume();
        });
    });
  }
}

function toBytes(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}
