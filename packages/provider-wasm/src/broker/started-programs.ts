import type { Interpreter, JobExit, JobPlace, OutputStream } from "../protocol.js";
import { FileError } from "./file-error.js";

/** What a shell says of where its program runs. */
type ProgramPlace = Pick<JobPlace, "cwd" | "env">;

/** An interpreter, a command of the caller's process, such as `pip`, or what the name of the program says. */
type Runner = Interpreter | "host" | "any";

/** What a program has started. */
interface ProgramRequest {
  readonly runner: Runner;
  readonly argv: readonly string[];
  readonly stdin: boolean;
}

/** A program, as far as the one that started it may reach. */
export interface StartedProgram {
  readonly pid: number;
  write(bytes: Uint8Array): Promise<void>;
  closeInput(): void;
  signal(name: string): void;
  taken(stream: OutputStream, bytes: number): void;
  end(exit: JobExit): void;
}

export interface ProgramListener {
  output(stream: OutputStream, bytes: Uint8Array): void;
  ended(exit: JobExit): void;
}

/** Starts a program of the same sandbox. @throws FileError for its directory */
export type StartProgram = (request: ProgramRequest, place: ProgramPlace, listener: ProgramListener) => StartedProgram;

/** What is told of a program; the bytes of output go with it. */
type News = { readonly stream: number; readonly length: number } | { readonly exit: JobExit } | null;
type Give = (news: News, bytes?: Uint8Array) => void;

/** A shell runs one program at a time, `xargs -P` some; Python may leave some behind for a while. */
const mostPrograms = 32;
const longestWaitMs = 1000;
const mostInput = 80 * 1024 * 1024;

/** Handles of programs are never used again: what a shell still asks of an earlier job finds none. */
let lastHandle = 0;

/** The programs that one shell or interpreter has started. What comes from it is checked here. */
export class StartedPrograms {
  readonly #start: StartProgram;
  readonly #programs = new Map<number, Program>();

  constructor(start: StartProgram) {
    this.#start = start;
  }

  get any(): boolean {
    return this.#programs.size > 0;
  }

  /** @throws Error for what no driver of ours asks; FileError for its directory, its name, or where there are too many */
  spawn(runner: unknown, argv: unknown, place: unknown, stdin: unknown): { program: number; pid: number } {
    if (this.#programs.size >= mostPrograms) throw new FileError("EAGAIN", "too many programs");
    if (!isRunner(runner)) throw new Error("there is no such runner");
    if (!isList(argv) || !isPlace(place)) throw new Error("a program that cannot be started");
    checkDirectory(place.cwd);
    const program = new Program((listener) => this.#start({ runner, argv, stdin: stdin === true }, place, listener));
    lastHandle += 1;
    const handle = lastHandle;
    this.#programs.set(handle, program);
    return { program: handle, pid: program.job.pid };
  }

  /** Gives input, without waiting for the program to read it; nothing closes it. @returns bytes not read yet */
  feed(handle: unknown, bytes: Uint8Array | undefined): number {
    return this.#program(handle).feed(bytes);
  }

  /** Gives the next output, or the end, or null after so many milliseconds. */
  collect(handle: unknown, ms: unknown, give: Give): void {
    const wait = Math.min(Math.max(Number(ms) || 0, 0), longestWaitMs);
    this.#program(handle).collect(wait, (news, bytes) => {
      if (news !== null && "exit" in news) this.#programs.delete(Number(handle));
      give(news, bytes);
    });
  }

  kill(handle: unknown, signal: unknown): void {
    this.#program(handle).job.signal(String(signal));
  }

  /** Nobody asks for its news any more: it goes on by itself, and what it writes goes nowhere. */
  abandon(handle: unknown): void {
    void this.#program(handle)
      .abandon()
      .then(() => this.#programs.delete(Number(handle)));
  }

  /** Ends every wait for news, for a signal. */
  interrupt(): void {
    for (const program of this.#programs.values()) program.interrupt();
  }

  /** Ends them all; resolves when they are gone. */
  async endAll(): Promise<void> {
    await Promise.all(Array.from(this.#programs.values(), (program) => program.end()));
  }

  #program(handle: unknown): Program {
    const program = this.#programs.get(Number(handle));
    if (!program) throw new Error("there is no such program");
    return program;
  }
}

class Program {
  readonly job: StartedProgram;
  readonly #output: { stream: OutputStream; bytes: Uint8Array }[] = [];
  #exit: JobExit | undefined;
  #waiting: { readonly give: Give; readonly timer: NodeJS.Timeout } | undefined;
  #feeding: Promise<void> = Promise.resolve();
  #unread = 0;
  #abandoned = false;
  readonly #gone: Promise<void>;

  constructor(start: (listener: ProgramListener) => StartedProgram) {
    let onGone: () => void = () => undefined;
    this.#gone = new Promise((resolve) => {
      onGone = resolve;
    });
    this.job = start({
      output: (stream, bytes) => {
        if (this.#abandoned) {
          this.job.taken(stream, bytes.length);
          return;
        }
        this.#output.push({ stream, bytes });
        this.#serve();
      },
      ended: (exit) => {
        this.#exit = exit;
        onGone();
        this.#serve();
      },
    });
  }

  feed(bytes: Uint8Array | undefined): number {
    if (!bytes) return this.#unread;
    this.#unread += bytes.length;
    if (this.#unread > mostInput) throw new Error("a program was given too much input");
    this.#feeding = this.#feeding.then(async () => {
      if (bytes.length === 0) return this.job.closeInput();
      await this.job.write(bytes);
      this.#unread -= bytes.length;
    });
    return this.#unread;
  }

  abandon(): Promise<void> {
    this.#abandoned = true;
    for (const { stream, bytes } of this.#output.splice(0)) this.job.taken(stream, bytes.length);
    return this.#gone;
  }

  interrupt(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    clearTimeout(waiting.timer);
    waiting.give(null);
  }

  collect(ms: number, give: Give): void {
    this.#waiting = {
      give,
      timer: setTimeout(() => {
        this.#waiting = undefined;
        give(null);
      }, ms),
    };
    this.#serve();
  }

  async end(): Promise<void> {
    if (this.#waiting) clearTimeout(this.#waiting.timer);
    this.#waiting = undefined;
    this.job.end({ exitCode: null, signal: "SIGKILL" });
    await this.#gone;
  }

  #serve(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    const piece = this.#output.shift();
    if (!piece && !this.#exit) return;
    this.#waiting = undefined;
    clearTimeout(waiting.timer);
    if (piece) {
      waiting.give({ stream: piece.stream === "stderr" ? 2 : 1, length: piece.bytes.length }, piece.bytes);
      this.job.taken(piece.stream, piece.bytes.length);
    } else if (this.#exit) {
      waiting.give({ exit: this.#exit });
    }
  }
}

function isRunner(value: unknown): value is Runner {
  return value === "python" || value === "javascript" || value === "shell" || value === "host" || value === "any";
}

function isList(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
}

function isPlace(value: unknown): value is ProgramPlace {
  if (typeof value !== "object" || value === null || !("cwd" in value) || !("env" in value)) return false;
  const { cwd, env } = value;
  return typeof cwd === "string" && typeof env === "object" && env !== null && isTexts(Object.values(env));
}

const longestDirectory = 4096;

/** Also for commands of the caller's process, which has a working directory of its own. @throws FileError */
export function checkDirectory(cwd: string): void {
  if (cwd.length > longestDirectory) throw new FileError("ENAMETOOLONG", "the working directory");
  if (!cwd.startsWith("/")) throw new FileError("EINVAL", "the working directory is not absolute");
}

function isTexts(values: unknown[]): boolean {
  return values.every((value) => typeof value === "string");
}
