import { constants } from "node:os";
import { type Deferred, deferred, SandboxError } from "@sandkit/core";
import { decodeFrames, encodeFrame, type Frame } from "./frames.js";
import type { Helper } from "./helper.js";

/** A program to be run in a box. */
export interface BoxProgram {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Over the environment of the box. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether it gets input; otherwise it reads end of file at once. Always with a terminal. */
  readonly stdin: boolean;
  readonly pty?: TerminalSize | undefined;
}

/** In characters. */
export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

/** Output of a program; of one on a terminal all of it is `stdout`. */
export interface BoxOutput {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Buffer;
}

/** How a program ended; exactly one of both is set. */
export interface BoxExit {
  readonly code: number | null;
  /** Name of the signal: `SIGKILL`. */
  readonly signal: string | null;
}

/** Why a program could not be started. */
export class BoxStartError extends Error {
  override readonly name = "BoxStartError";
  /** What was wrong: the directory that it was to start in, or the program itself. */
  readonly what: "cwd" | "program";
  readonly errno: string;

  constructor(what: "cwd" | "program", errno: string, subject: string) {
    super(`${what} ${JSON.stringify(subject)}: ${errno}`);
    this.what = what;
    this.errno = errno;
  }
}

/**
 * A program that runs in a box as the agents of the clouds run it: without a process group of its own, signalled alone,
 * ended when its pipes have ended. Its output must be consumed by {@link output}; what is not pulled holds it up.
 */
export interface BoxProcess {
  readonly pid: number;
  readonly program: BoxProgram;
  readonly exited: Promise<BoxExit>;
  /** What it writes, until its end; {@link exited} settles with it. One consumer. */
  output(): AsyncGenerator<BoxOutput>;
  /** Gives it input; resolves when that is in its pipe. After its end it does nothing. */
  write(data: Uint8Array): Promise<void>;
  /** It reads end of file after what was written. */
  closeStdin(): Promise<void>;
  /** Sends a signal to the program alone, by name. */
  signal(name: NodeJS.Signals): Promise<void>;
  /** Sends a signal to everything that grew from it, by name, also after its own end. */
  signalTree(name: NodeJS.Signals): Promise<void>;
  /** Changes the size of its terminal. */
  resize(size: TerminalSize): Promise<void>;
}

const maxInputBytes = 32_768;

/** A program below our helpers, which are in Python. */
export class HelperProcess implements BoxProcess {
  readonly pid: number;
  readonly program: BoxProgram;
  readonly exited: Promise<BoxExit>;
  readonly #helper: Helper;
  readonly #frames: AsyncGenerator<Frame>;
  readonly #exited = deferred<BoxExit>();
  #input: Promise<void> = Promise.resolve();
  #taken: Deferred<void> | undefined;
  #over = false;

  /**
   * @param helper Runs `guest/program.py`.
   * @throws BoxStartError when it cannot be started
   */
  static async start(helper: Helper, program: BoxProgram): Promise<HelperProcess> {
    const { argv, cwd, env, stdin, pty } = program;
    await helper.write(encodeFrame("P", JSON.stringify({ argv, cwd, env, stdin, pty: pty ?? null })));
    const frames = decodeFrames(helper.output, { numbered: false });
    const { value: first, done } = await frames.next();
    if (!done && first.kind === "p") return new HelperProcess(helper, program, Number(first.payload), frames);
    if (!done && first.kind === "f") {
      const { what, errno } = JSON.parse(first.payload.toString());
      throw new BoxStartError(what, errno, what === "cwd" ? cwd : (argv[0] ?? ""));
    }
    throw new SandboxError("SANDBOX_LOST", "the box ended before its program had started", { operation: "exec" });
  }

  private constructor(helper: Helper, program: BoxProgram, pid: number, frames: AsyncGenerator<Frame>) {
    this.#helper = helper;
    this.program = program;
    this.pid = pid;
    this.#frames = frames;
    this.exited = this.#exited.promise;
    this.exited.catch(() => undefined);
  }

  async *output(): AsyncGenerator<BoxOutput> {
    try {
      for await (const { kind, payload } of this.#frames) {
        if (kind === "o") yield { stream: "stdout", bytes: payload };
        else if (kind === "e") yield { stream: "stderr", bytes: payload };
        else if (kind === "a") this.#taken?.resolve();
        else if (kind === "x") {
          this.#end(JSON.parse(payload.toString()));
          return;
        }
      }
    } finally {
      this.#lost();
    }
  }

  async write(data: Uint8Array): Promise<void> {
    for (let offset = 0; offset < data.length; offset += maxInputBytes) {
      await this.#feed("i", data.subarray(offset, offset + maxInputBytes));
    }
  }

  async closeStdin(): Promise<void> {
    await this.#feed("c");
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    if (!this.#over) await this.#helper.write(encodeFrame("s", String(constants.signals[name])));
  }

  async signalTree(name: NodeJS.Signals): Promise<void> {
    await this.#helper.write(encodeFrame("t", String(constants.signals[name])));
  }

  async resize(size: TerminalSize): Promise<void> {
    if (!this.#over) await this.#helper.write(encodeFrame("w", JSON.stringify(size)));
  }

  #feed(kind: string, data?: Uint8Array): Promise<void> {
    const turn = this.#input.then(async () => {
      if (this.#over) return;
      const taken = deferred<void>();
      this.#taken = taken;
      await this.#helper.write(encodeFrame(kind, data));
      await taken.promise;
    });
    this.#input = turn.catch(() => undefined);
    return turn;
  }

  #end({ code, signal }: { code: number | null; signal: number | null }): void {
    const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
    this.#exited.resolve({ code, signal: code === null ? (name ?? `signal ${signal}`) : null });
  }

  #lost(): void {
    this.#over = true;
    this.#taken?.resolve();
    this.#exited.reject(new SandboxError("SANDBOX_LOST", `the end of process ${this.pid} was not told`));
  }
}
