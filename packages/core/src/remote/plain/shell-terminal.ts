import { setTimeout as pause } from "node:timers/promises";
import { settlesWithin } from "../../deadline.js";
import { messageOf, SandboxError } from "../../errors.js";
import type { PreludeOwner } from "../start-link.js";
import type { Terminal, TerminalConnection } from "../terminal.js";
import { type ShellFailure, ShellJob } from "./shell-job.js";
import { type ShellPlace, type StartedShell, startShell } from "./start-shell.js";

/** Longer than any line of the relay. */
const longestLine = 256 * 1024;
const troubleMs = 45_000;
const attemptMs = 15_000;
const longestPauseMs = 4_000;
const endMs = 2_000;
/** How often a job's relay is asked for a sign of life, and how long that may take. */
const probeMs = 20_000;
const silentMs = 15_000;

/** Whether the box stands still, so that there is nothing to connect to until somebody resumes it. */
export type IsPaused = () => Promise<boolean>;

/** A terminal of a box with our relay on it, which runs one program after another. */
export class ShellTerminal {
  readonly place: ShellPlace;
  readonly #terminal: Terminal;
  readonly #owner: PreludeOwner;
  readonly #isPaused: IsPaused;
  #connection: TerminalConnection | undefined;
  #job: ShellJob | undefined;
  #failure: ShellFailure | undefined;
  #queue: Buffer[] = [];
  #sending = false;
  #suspended = false;
  #ended = false;
  #restoring: Promise<void> | undefined;
  #probing: NodeJS.Timeout | undefined;

  /** @throws SandboxError as `startShell` does; or `signal.reason` */
  static async open(
    terminal: Terminal,
    owner: PreludeOwner,
    isPaused: IsPaused,
    signal: AbortSignal,
  ): Promise<ShellTerminal> {
    try {
      return new ShellTerminal(terminal, owner, isPaused, await startShell(terminal, owner, signal));
    } catch (error) {
      // What is left on it ends with the box, or by itself.
      await terminal.end().catch(() => undefined);
      throw error;
    }
  }

  private constructor(terminal: Terminal, owner: PreludeOwner, isPaused: IsPaused, started: StartedShell) {
    this.#terminal = terminal;
    this.#owner = owner;
    this.#isPaused = isPaused;
    this.place = started.place;
    this.#use(started.connection, started.reader, started.rest);
  }

  /** Why it is of no more use. */
  get failure(): ShellFailure | undefined {
    return this.#failure;
  }

  /** Runs a program; the one before is over. */
  run(code: string, stdin: boolean, onOver: (usable: boolean) => void): ShellJob {
    const job = new ShellJob({
      code,
      stdin,
      say: (line, bytes) => this.#say(line, bytes),
      maxSendBytes: this.#terminal.maxSendBytes,
      onOver: () => {
        clearInterval(this.#probing);
        this.#job = undefined;
        this.#refer("unref");
        onOver(job.complete && !this.#failure);
      },
    });
    this.#job = job;
    this.#refer("ref");
    this.#probing = setInterval(() => this.#probe(job), probeMs);
    this.#probing.unref();
    return job;
  }

  /** The box is about to be paused. */
  async suspend(): Promise<void> {
    this.#suspended = true;
    await this.#drop();
  }

  /** The box runs again. */
  async resume(): Promise<void> {
    this.#suspended = false;
    if (!this.#connection && !this.#ended) await this.#restore(new Error("the box was paused"));
  }

  /** Ends what is on it, as far as it does not live in a session of its own. Never rejects. */
  async end(): Promise<void> {
    this.#ended = true;
    clearInterval(this.#probing);
    this.#job?.stop();
    const ending = this.#terminal.end().catch(() => undefined);
    await Promise.all([this.#drop(), settlesWithin(ending, endMs)]);
  }

  #use(
    connection: TerminalConnection,
    reader = connection.output.getReader(),
    rest: Uint8Array = new Uint8Array(),
  ): void {
    this.#connection = connection;
    this.#refer(this.#job ? "ref" : "unref");
    this.#read(connection, reader, Buffer.from(rest)).catch((error) => this.#broke(connection, error));
  }

  async #read(
    connection: TerminalConnection,
    reader: ReadableStreamDefaultReader<Uint8Array>,
    rest: Buffer,
  ): Promise<void> {
    let held = rest;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return this.#broke(connection, new Error("it ended"));
      if (this.#connection !== connection) return;
      held = held.length > 0 ? Buffer.concat([held, value]) : Buffer.from(value);
      for (let end = held.indexOf(0x0a); end >= 0; end = held.indexOf(0x0a)) {
        this.#job?.hear(held.toString("latin1", 0, end).trim());
        held = held.subarray(end + 1);
      }
      // What is as long as that is not the relay's.
      if (held.length > longestLine) held = Buffer.alloc(0);
    }
  }

  #say(line: string, bytes: Uint8Array = new Uint8Array()): void {
    this.#queue.push(Buffer.concat([Buffer.from(`${line}\n`, "latin1"), bytes]));
    if (!this.#sending) this.#send().catch(() => undefined);
  }

  /** One call after another, and as few as will do. */
  async #send(): Promise<void> {
    this.#sending = true;
    try {
      for (let connection = this.#connection; connection && this.#queue.length > 0; connection = this.#connection) {
        try {
          await connection.send(this.#next());
        } catch (error) {
          this.#broke(connection, error);
        }
      }
    } finally {
      this.#sending = false;
    }
  }

  /** What goes in one call: all of it arrives or none, so that it is whole, unless it is longer than any call. */
  #next(): Uint8Array {
    const most = this.#terminal.maxSendBytes;
    const parts: Buffer[] = [];
    let size = 0;
    for (let next = this.#queue[0]; next && size + next.length <= most; next = this.#queue[0]) {
      parts.push(next);
      size += next.length;
      this.#queue.shift();
    }
    if (parts.length > 0) return Buffer.concat(parts);
    const long = this.#queue.shift() ?? Buffer.alloc(0);
    this.#queue.unshift(long.subarray(most));
    return long.subarray(0, most);
  }

  #broke(connection: TerminalConnection, cause: unknown): void {
    if (this.#connection !== connection) return;
    this.#drop().catch(() => undefined);
    if (this.#ended || this.#suspended) return;
    if (this.#job) this.#restore(cause).catch(() => undefined);
    // Nothing is lost with one that waits for work.
    else this.#fail(this.#error(cause), false);
  }

  async #drop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#queue = [];
    // It is of no use any more, whether it can be closed or not.
    await connection?.close().catch(() => undefined);
  }

  #restore(cause: unknown): Promise<void> {
    this.#restoring ??= this.#reconnect(cause).finally(() => {
      this.#restoring = undefined;
      // It may have broken again before this was known.
      const again = !this.#connection && !this.#ended && !this.#suspended;
      return again ? this.#restore(new Error("the connection broke again")) : undefined;
    });
    return this.#restoring;
  }

  async #reconnect(cause: unknown): Promise<void> {
    const end = performance.now() + troubleMs;
    let reason = cause;
    for (let pauseMs = 0; !this.#ended && !this.#suspended; pauseMs = Math.min(longestPauseMs, pauseMs * 2 + 100)) {
      await pause(pauseMs);
      try {
        const connection = await this.#terminal.reconnect(AbortSignal.timeout(attemptMs));
        if (!connection) return this.#fail(this.#error(cause, "ended"), true);
        if (this.#ended || this.#suspended) return await connection.close();
        this.#use(connection);
        // What it made of half a line ends here.
        this.#queue.unshift(Buffer.from("\n"));
        this.#job?.again();
        return;
      } catch (error) {
        reason = error;
      }
      if (await this.#isPaused().catch(() => false)) this.#suspended = true;
      else if (performance.now() > end) return this.#fail(this.#error(reason), false);
    }
  }

  #probe(job: ShellJob): void {
    const connection = this.#connection;
    if (!connection || this.#job !== job) return;
    const answered = job.probe();
    settlesWithin(answered, silentMs).then((heard) => {
      if (!heard && this.#job === job) this.#broke(connection, new Error(`nothing was heard for ${silentMs / 1000} s`));
    });
  }

  #fail(error: SandboxError, isGone: boolean): void {
    if (this.#ended) return;
    this.#failure ??= { error, isGone };
    this.end().catch(() => undefined);
  }

  #error(cause: unknown, how = "broke and was not reached again"): SandboxError {
    const { provider, sandboxId } = this.#owner;
    const message = `the terminal of sandbox ${sandboxId} ${how}: ${messageOf(cause)}`;
    return new SandboxError("TRANSPORT", message, { provider, sandboxId, operation: "exec", cause });
  }

  #refer(how: "ref" | "unref"): void {
    this.#connection?.[how]?.();
  }
}
