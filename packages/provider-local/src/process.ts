import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ProcessExit, ProviderProcess } from "@sandkit/core";
import { Control } from "./control.js";
import { failure, hasErrno } from "./errors.js";
import { pythonFix } from "./python.js";

/** One program as the supervisor is told of it: all of it data, nothing a command line. */
export interface Program {
  readonly command: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: boolean;
  readonly mergeStderr: boolean;
}

/** How long a tree that was ended waits for the reader of its output. */
const lastBytesMs = 100;

const supervisor = fileURLToPath(new URL("./supervisor.py", import.meta.url));

/**
 * A program under its own supervisor, which relays its streams, is the reaper of its whole tree, and ends the tree
 * when this process dies.
 */
export class LocalProcess implements ProviderProcess {
  readonly id: string;
  readonly pid: number;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly exited: Promise<ProcessExit>;
  readonly gone: Promise<void>;
  /** Settles when the supervisor has ended too; never rejects. */
  readonly closed: Promise<void>;
  readonly #stdin: Writable | null;
  readonly #outputs: readonly Socket[];
  readonly #control: Control;

  /**
   * Starts a program; resolves once it runs, or has ended because it could not be found or executed.
   * @throws SandboxError `FILE_NOT_FOUND` or `NOT_DIRECTORY` for a bad `cwd`; `INVALID`; `UNAVAILABLE` without Python
   */
  static async start(id: string, python: string, program: Program): Promise<LocalProcess> {
    const payload = encode(program);
    const child = spawn(python, ["-I", "-S", supervisor], {
      cwd: "/",
      env: {},
      // Out of the caller's session: a Ctrl-C in its terminal must not end the supervisor before the tree.
      detached: true,
      stdio: [program.stdin ? "pipe" : "ignore", "pipe", "pipe", "pipe", "pipe"],
    });
    if (child.pid === undefined) {
      const [error] = await once(child, "error");
      throw failure("UNAVAILABLE", "exec", `cannot start ${python}: ${error.message}: ${pythonFix.join("; ")}`, error);
    }
    const control = new Control(child, program.cwd);
    control.start(payload);
    try {
      return new LocalProcess(id, await control.started, child, control);
    } catch (error) {
      for (const stream of child.stdio) stream?.destroy();
      throw error;
    }
  }

  private constructor(id: string, pid: number, child: ChildProcess, control: Control) {
    this.id = id;
    this.pid = pid;
    this.#control = control;
    this.#stdin = child.stdin;
    // What it means is decided where it matters: in the callback of the write.
    this.#stdin?.on("error", () => this.#stdin?.destroy());
    const [stdout, stderr] = [child.stdio[1] as Socket, child.stdio[2] as Socket];
    this.#outputs = [stdout, stderr];
    this.stdout = byteStream(stdout);
    this.stderr = byteStream(stderr);
    this.exited = control.exited;
    this.gone = control.gone;
    this.closed = control.closed;
  }

  async write(data: Uint8Array): Promise<void> {
    const stdin = this.#stdin;
    if (!stdin?.writable) return;
    await new Promise<void>((resolve, reject) => {
      stdin.write(data, (error) => {
        // The program has ended or has closed its stdin: nobody will read this.
        if (!error || hasErrno(error, "EPIPE", "ECONNRESET", "ERR_STREAM_DESTROYED")) resolve();
        else reject(failure("TRANSPORT", "write", `stdin of process ${this.id}: ${error.message}`, error));
      });
    });
  }

  async closeStdin(): Promise<void> {
    const stdin = this.#stdin;
    if (!stdin?.writable) return;
    await new Promise<void>((resolve) => {
      stdin.once("close", resolve);
      stdin.end(resolve);
    });
  }

  async kill(signal: string): Promise<void> {
    const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1];
    if (number === undefined) {
      throw failure("INVALID", "kill", `"${signal}" is no signal of this host: use a name such as SIGTERM`);
    }
    await this.#control.kill(number);
  }

  /** Ends the tree and then the supervisor, which a reader who is there gets the last bytes from. */
  async release(): Promise<void> {
    await this.#control.kill(constants.signals.SIGKILL);
    await this.gone;
    await Promise.race([this.closed, setTimeout(lastBytesMs)]);
    this.#control.close();
    await this.closed;
    // What nobody reads must not keep this program from ending.
    for (const output of this.#outputs) output.unref();
  }
}

/** The supervisor's `read_program` reads this. NUL ends every field, so none may hold one. */
function encode(program: Program): Uint8Array {
  const environment = Object.entries(program.env).map(([name, value]) => `${name}=${value}`);
  const flags = [program.stdin, program.mergeStderr].map((flag) => (flag ? "1" : "0"));
  const fields = [program.cwd, ...flags, String(program.command.length), ...program.command, ...environment];
  for (const field of fields) {
    if (!field.includes("\0") && !/\p{Surrogate}/u.test(field)) continue;
    const next = "programs of this host take text without NUL and without halves of surrogate pairs";
    throw failure("INVALID", "exec", `${JSON.stringify(field)} cannot be handed to a program: ${next}`);
  }
  return new TextEncoder().encode(fields.map((field) => `${field}\0`).join(""));
}

/** Reads only on demand, so that what is not pulled stays where it is. */
function byteStream(readable: Readable): ReadableStream<Uint8Array> {
  // Whoever reads gets it; without a reader there is nobody to tell.
  readable.on("error", () => undefined);
  const chunks: AsyncIterator<Buffer> = readable[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (done) controller.close();
          else controller.enqueue(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
        } catch (error) {
          throw failure("TRANSPORT", "read", "output of a process was cut off: run the command again", error);
        }
      },
      cancel() {
        readable.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
