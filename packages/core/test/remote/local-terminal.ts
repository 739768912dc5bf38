import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Terminal, TerminalConnection } from "../../src/remote/terminal.js";
import { python } from "../agent/guest-client.js";

const helper = fileURLToPath(new URL("terminal.py", import.meta.url));

/** What goes wrong on the way to a terminal. */
export interface Faults {
  /** Most bytes of one piece of output, cut anywhere. */
  pieceBytes?: number;
  /** Each connection breaks after it has carried so many bytes to the host. */
  dropAfterBytes?: () => number;
  /** Whether a send fails after its bytes have arrived, or before. */
  failSend?: () => "after" | "before" | undefined;
  /** Before each send, and each piece. */
  delayMs?: number;
  /** Nothing can be connected to. */
  unreachable?: boolean;
}

export interface LocalTerminalOptions {
  readonly shell?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly faults?: Faults;
  readonly maxSendBytes?: number;
}

/** What this machine's user has in their profile is not part of a test, and may take a minute. */
const nobodysHome = { HOME: "/nonexistent" };

/** A shell on a real terminal of this machine. What it says while nobody is connected is lost, as at the vendors. */
export class LocalTerminal implements Terminal {
  readonly maxSendBytes: number;
  readonly faults: Faults;
  /** Bytes that connections have carried. */
  carried = 0;
  drops = 0;
  connects = 0;
  readonly #options: LocalTerminalOptions;
  #process: ChildProcess | undefined;
  #current: LocalConnection | undefined;
  #ended = false;

  constructor(options: LocalTerminalOptions = {}) {
    this.#options = options;
    this.maxSendBytes = options.maxSendBytes ?? 64 * 1024;
    this.faults = options.faults ?? {};
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Stops what is on the terminal where it is, as a box that stands still. */
  async freeze(signal: "SIGSTOP" | "SIGCONT"): Promise<void> {
    const { pid } = this;
    if (pid === undefined) throw new Error("the terminal was not opened");
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
    for (const child of children.trim().split(" ")) process.kill(Number(child), signal);
  }

  async open(): Promise<TerminalConnection> {
    const { HOME: _ours, ...machine } = process.env;
    const { shell = ["/bin/sh"], env = machine, cwd = "/" } = this.#options;
    this.#process = spawn(python, ["-I", helper, ...shell], {
      cwd,
      env: { ...nobodysHome, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#process.stdin?.on("error", () => undefined);
    this.#read(this.#process);
    return this.#connect();
  }

  async reconnect(signal: AbortSignal): Promise<TerminalConnection | null> {
    await pause(this.faults.delayMs ?? 0, undefined, { signal });
    if (this.faults.unreachable) throw new Error("nothing can be connected to");
    if (this.#ended) return null;
    return this.#connect();
  }

  async end(): Promise<void> {
    this.#process?.kill("SIGKILL");
    this.#process?.stdin?.destroy();
  }

  /** Breaks the connection that there is. */
  drop(): void {
    this.#current?.break();
  }

  #connect(): LocalConnection {
    this.#current?.break();
    this.connects += 1;
    this.#current = new LocalConnection(this, async (bytes) => {
      const stdin = this.#process?.stdin;
      // One that has ended takes no more; whoever waits is told by the output.
      if (stdin && !stdin.destroyed) await new Promise<void>((resolve) => stdin.write(bytes, () => resolve()));
    });
    return this.#current;
  }

  async #read(process: ChildProcess): Promise<void> {
    for await (const chunk of process.stdout ?? []) {
      const size = this.faults.pieceBytes ?? Number.POSITIVE_INFINITY;
      for (let at = 0; at < chunk.length; at += size) {
        if (this.faults.delayMs) await pause(this.faults.delayMs);
        await this.#current?.deliver(chunk.subarray(at, at + size));
      }
    }
    this.#ended = true;
    this.#current?.end();
  }
}

class LocalConnection implements TerminalConnection {
  readonly output: ReadableStream<Uint8Array>;
  readonly #terminal: LocalTerminal;
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #wake: (() => void) | undefined;
  #left: number;
  #sending = false;
  #broken = false;

  constructor(terminal: LocalTerminal, write: (bytes: Uint8Array) => Promise<void>) {
    this.#terminal = terminal;
    this.#write = write;
    this.#left = terminal.faults.dropAfterBytes?.() ?? Number.POSITIVE_INFINITY;
    this.output = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#wake?.(),
        cancel: () => this.break(),
      },
      { highWaterMark: 4 },
    );
  }

  async send(bytes: Uint8Array): Promise<void> {
    if (this.#sending) throw new Error("a defect of the link: two sends at one time");
    if (bytes.length > this.#terminal.maxSendBytes) throw new Error("a defect of the link: too long a send");
    this.#sending = true;
    try {
      if (this.#terminal.faults.delayMs) await pause(this.#terminal.faults.delayMs);
      const fails = this.#terminal.faults.failSend?.();
      if (this.#broken || fails === "before") throw new Error("not connected");
      await this.#write(bytes.slice());
      if (fails) throw new Error("nobody knows whether it arrived");
    } finally {
      this.#sending = false;
    }
  }

  async close(): Promise<void> {
    this.break();
  }

  async deliver(bytes: Uint8Array): Promise<void> {
    if (this.#broken) return;
    const carried = bytes.subarray(0, this.#left);
    this.#left -= carried.length;
    this.#terminal.carried += carried.length;
    if (carried.length > 0) this.#controller?.enqueue(carried.slice());
    if (this.#left <= 0) this.break();
    while (!this.#broken && (this.#controller?.desiredSize ?? 1) <= 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  break(): void {
    this.#stop(() => this.#controller?.error(new Error("the connection broke")));
  }

  /** The terminal has ended: what it said is still to be read. */
  end(): void {
    this.#stop(() => this.#controller?.close());
  }

  #stop(how: () => void): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#terminal.drops += 1;
    this.#wake?.();
    how();
  }
}
