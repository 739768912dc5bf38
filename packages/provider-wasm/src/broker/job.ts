import type { ProviderCell } from "@sandkit/core";
import type { LinkRequest } from "../link.js";
import type { HostCommandResult, JobExit, JobPlace, Job as JobRequest, OutputStream } from "../protocol.js";
import { endsByDefault, signalNumber } from "../signal-numbers.js";
import { readCellResult } from "./cell-result.js";
import { FileError } from "./file-error.js";
import type { FileSystem } from "./filesystem.js";
import { GuestFiles } from "./guest-files.js";
import { GuestRequests, longRequest } from "./guest-requests.js";
import type { GuestWorker, WorkerEnd } from "./guest-worker.js";
import type { StartCommand } from "./host-commands.js";
import type { HttpRelay } from "./http-relay.js";
import { Input } from "./input.js";
import type { Operations } from "./operation.js";
import { Output } from "./output.js";
import { programOperations } from "./program-operations.js";
import { checkDirectory, StartedPrograms, type StartProgram } from "./started-programs.js";

/** Longest JSON of a call that ends no cell: two paths, each character escaped. */
const longestArgs = 64 * 1024;
/** That of a call that starts a program or a command, with its arguments and environment. */
const longestSpawn = 2 * 1024 * 1024;
/** What an interpreter may tell of its failure, in characters. */
const longestCrash = 4000;
const signals = new Set(Array.from({ length: 64 }, (_, index) => index + 1));

/** Where the output and the end of a job go. */
export interface JobListener {
  /** The interpreter is up and begins. */
  started(): void;
  output(stream: OutputStream, bytes: Uint8Array): void;
  ended(exit: JobExit): void;
  readonly command: StartCommand;
  /** The interpreter is done with this job and waits for another. */
  released(worker: GuestWorker): void;
}

/** What of the sandbox a job may use. */
interface SandboxParts {
  readonly files: FileSystem;
  readonly relay: HttpRelay;
}

interface WaitingCell {
  readonly code: string;
  readonly resolve: (cell: ProviderCell) => void;
  /** Interrupted before its interpreter took it: it ends there and never runs. */
  interrupted?: boolean;
}

/** One program or kernel: what its interpreter asks, and what the caller does to it. */
export class Job {
  readonly pid: number;
  readonly request: JobRequest;
  readonly #place: JobPlace;
  readonly #listener: JobListener;
  readonly #files: GuestFiles;
  readonly #requests: GuestRequests;
  readonly #input: Input;
  /** Signals that the program handles; Python itself handles SIGINT. */
  readonly #caught = new Set([2]);
  /** What it has started. */
  readonly #programs: StartedPrograms;
  readonly #programOperations: Operations;
  #worker: GuestWorker | undefined;
  #output: Output | undefined;
  #exit: JobExit | undefined;
  #ended = false;
  #cell: WaitingCell | undefined;
  #running: WaitingCell | undefined;
  /** Whether the kernel has ever asked for a cell, and so is up. */
  #asked = false;
  /** The kernel's question for its next cell. */
  #asking: { readonly timer: NodeJS.Timeout | undefined } | undefined;
  /** Cancels the command of the caller's process that the interpreter waits for; true when it waited for one. */
  #cancelCommand: () => boolean = () => false;

  constructor(
    pid: number,
    request: JobRequest,
    place: JobPlace,
    { files, relay }: SandboxParts,
    listener: JobListener,
    start: StartProgram,
  ) {
    this.pid = pid;
    this.request = request;
    this.#place = place;
    this.#listener = listener;
    this.#files = new GuestFiles(files);
    this.#requests = new GuestRequests(place.network ? relay : undefined);
    this.#input = new Input(request.kind === "program" && request.stdin);
    this.#programs = new StartedPrograms(start);
    this.#programOperations = programOperations(this.#programs);
  }

  get started(): boolean {
    return this.#worker !== undefined;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Gives the job its interpreter, and so begins it. */
  start(worker: GuestWorker): void {
    this.#worker = worker;
    const merge = this.request.kind === "program" && this.request.mergeStderr;
    this.#output = new Output(worker.link, merge, (stream, bytes) => this.#listener.output(stream, bytes));
    worker.assign({
      call: (request) => this.#call(worker, request),
      output: () => this.#orCrash(() => this.#output?.move()),
      gone: (end) => this.#gone(end),
    });
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#input.write(bytes);
  }

  closeInput(): void {
    this.#input.close();
  }

  taken(stream: OutputStream, bytes: number): void {
    if (this.#ended) return;
    this.#orCrash(() => this.#output?.taken(stream, bytes));
  }

  signal(name: string): void {
    const number = signalNumber(name);
    if (number === undefined) throw new FileError("EINVAL", `${name} is no signal`);
    if (this.#ended || this.#exit) return;
    if (name !== "SIGKILL" && this.#worker?.listening && this.#caught.has(number)) {
      this.#worker.signal(number);
      this.#input.interrupt();
      this.#requests.interrupt();
      this.#programs.interrupt();
      if (this.#cancelCommand()) this.#worker.link.reply(interruptedCommand);
    } else if (endsByDefault(name)) {
      this.end({ exitCode: null, signal: name });
    }
  }

  /** Ends the job from outside; `exit` tells how. */
  end(exit: JobExit): void {
    if (this.#ended) return;
    this.#exit ??= exit;
    this.#cancelCommand();
    if (this.#worker) this.#worker.terminate();
    else this.#finish(this.#exit);
  }

  /** Runs one cell to its end, or to that of the kernel, which the listener is told of. */
  cell(code: string): Promise<ProviderCell> {
    return new Promise((resolve) => {
      this.#cell = { code, resolve };
      if (this.#asking) this.#giveCell();
    });
  }

  /** Interrupts the running cell; content when none runs. */
  interrupt(): void {
    if (this.#running) this.signal("SIGINT");
    else if (this.#cell && !this.#asked) this.#interruptedEarly();
    // Background tasks hold the interpreter. If they never let go of it, the caller ends it.
    else if (this.#cell) {
      this.#cell.interrupted = true;
      // JavaScript's ends the callback that runs; Python's has nobody to tell.
      if (this.request.interpreter === "javascript") this.#worker?.signal(2);
    }
  }

  #call(worker: GuestWorker, request: LinkRequest): void {
    this.#orCrash(() => this.#answer(worker, request));
  }

  /** Does what an interpreter asks. Where it asks for what no driver does, that is its end, and of nothing else. */
  #orCrash(action: () => void): void {
    try {
      action();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.end({ exitCode: null, signal: "SIGABRT", crash: `the interpreter made a bad call: ${message}` });
    }
  }

  #answer(worker: GuestWorker, request: LinkRequest): void {
    const { operation, args, data } = request;
    if (operation === "done") {
      this.#finishCell(worker, args);
      return;
    }
    const file = operation.startsWith("fs.");
    const spawn = operation === "spawn";
    if (args.length > (spawn || operation === "command" ? longestSpawn : longestArgs)) {
      const opens = operation === "http.open";
      if (!file && !spawn && !opens) throw new Error("its arguments are too long");
      worker.link.reply({ error: opens ? longRequest : spawn ? "E2BIG" : "ENAMETOOLONG" });
      return;
    }
    const list = JSON.parse(args) as unknown;
    if (file) {
      this.#file(worker, operation.slice(3), list, data);
      return;
    }
    if (operation.startsWith("http.")) {
      if (!Array.isArray(list)) throw new Error("no arguments");
      this.#requests.answer(worker, operation.slice("http.".length), list, request);
      return;
    }
    const shell = this.request.interpreter === "shell" ? [this.#shellOperations] : [];
    const operations = [...shell, this.#operations, this.#programOperations];
    const answer = operations.find((table) => Object.hasOwn(table, operation))?.[operation];
    if (!answer || !Array.isArray(list)) throw new Error("there is no such operation");
    answer({ worker, data }, ...list);
  }

  /** What an interpreter may ask besides files. Its arguments can be anything. */
  readonly #operations: Operations = {
    job: ({ worker: { link } }) => {
      link.reply({ ...this.request, ...this.#place, pid: this.pid });
      this.#listener.started();
    },
    stdin: ({ worker }, limit) => {
      const { link } = worker;
      // One that came between the interpreter's last look and this read would otherwise wait as long as the read.
      if (worker.signalPending) return link.reply(-1);
      this.#input.read(Math.min(Number(limit), link.replyArea.length), (bytes) => {
        if (bytes) link.replyArea.set(bytes);
        link.reply(bytes ? bytes.length : -1, bytes?.length);
      });
    },
    cell: ({ worker }, ms) => this.#askForCell(worker, Number(ms)),
    handle: ({ worker: { link } }, signal, how) => {
      if (typeof signal !== "number" || !signals.has(signal)) throw new Error("there is no such signal");
      if (how === "default") this.#caught.delete(signal);
      else this.#caught.add(signal);
      link.reply(null);
    },
    command: ({ worker: { link } }, argv, cwd) => {
      if (typeof cwd !== "string" || !Array.isArray(argv) || !argv.every((word) => typeof word === "string"))
        throw new Error("a bad command");
      checkDirectory(cwd);
      const over = () => {
        this.#cancelCommand = () => false;
      };
      const cancel = this.#listener.command(argv, cwd, (result) => {
        over();
        link.reply(result);
      });
      this.#cancelCommand = () => {
        over();
        cancel();
        return true;
      };
    },
    exit: ({ worker }, how) => {
      // Unanswered, this call never returns: the guest is at its end before the thread has been taken down.
      this.#exit ??= typeof how === "number" ? { exitCode: how & 0xff } : signalled(how);
      // What it has started ends with it, and before it is over.
      if (!this.#programs.any) this.#finish(this.#exit);
      worker.terminate();
    },
    fatal: (_call, message) => {
      const crash = typeof message === "string" ? message.slice(0, longestCrash) : "the interpreter failed";
      this.end({ exitCode: null, signal: "SIGABRT", crash });
    },
  };

  /** What a shell may ask besides. */
  readonly #shellOperations: Operations = {
    finish: ({ worker }, exitCode) => {
      void this.#programs.endAll().then(() => {
        if (this.#ended || this.#exit) return;
        // Before the end, which may start the job that uses it.
        worker.release();
        this.#listener.released(worker);
        this.#finish({ exitCode: Number(exitCode) & 0xff });
      });
    },
    exit: ({ worker }, exitCode) => {
      void this.#programs.endAll().then(() => {
        this.#finish(this.#exit ?? { exitCode: Number(exitCode) & 0xff });
        worker.terminate();
      });
    },
  };

  #file(worker: GuestWorker, operation: string, args: unknown, data: Uint8Array): void {
    try {
      const { result, length } = this.#files.run(operation, args, data, worker.link.replyArea);
      worker.link.reply({ result }, length);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      worker.link.reply({ error: error.errno });
    }
  }

  /** Answers with the next cell, or with nothing after `ms`, in which background tasks of the kernel are due. */
  #askForCell(worker: GuestWorker, ms: number): void {
    const timer = ms > 2 ** 31 - 1 ? undefined : setTimeout(() => this.#stopAsking(worker), ms);
    // One that is due at once still lets a message for this kernel in first.
    this.#asking = { timer };
    this.#asked = true;
    if (this.#cell?.interrupted) this.#interruptedEarly();
    if (this.#cell) this.#giveCell();
  }

  #stopAsking(worker: GuestWorker): void {
    this.#asking = undefined;
    worker.link.reply(null);
  }

  #giveCell(): void {
    clearTimeout(this.#asking?.timer);
    this.#asking = undefined;
    this.#running = this.#cell;
    this.#cell = undefined;
    this.#worker?.clearSignal();
    this.#worker?.link.reply(this.#running?.code);
  }

  /** Once for each cell: a second end would let a guest send output past what its consumer takes. */
  #finishCell(worker: GuestWorker, args: string): void {
    const running = this.#running;
    if (!running) throw new Error("no cell runs that could end");
    const cell = readCellResult(args);
    worker.clearSignal();
    this.#output?.flush();
    this.#running = undefined;
    running.resolve(cell);
    worker.link.reply(null);
  }

  /** A cell that is interrupted before its interpreter took it never runs. */
  #interruptedEarly(): void {
    this.#worker?.clearSignal();
    this.#cell?.resolve({ exitCode: 1, outputs: [], error: interruption[this.request.interpreter] });
    this.#cell = undefined;
  }

  #gone({ oom, error }: WorkerEnd): void {
    const crash = error ?? "the interpreter ended by itself";
    const byItself: JobExit = oom ? outOfMemory : { exitCode: null, signal: "SIGABRT", crash };
    // What it has started goes with it.
    void this.#programs.endAll().then(() => this.#finish(this.#exit ?? byItself));
  }

  #finish(exit: JobExit): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelCommand();
    clearTimeout(this.#asking?.timer);
    const damage = this.#lastOutput();
    this.#input.discard();
    this.#requests.endAll();
    this.#files.closeAll();
    this.#listener.ended(damage === undefined ? exit : { exitCode: null, signal: "SIGABRT", crash: damage });
  }

  /** Sends what is left in the ring; what is wrong with the ring, if it cannot be read. */
  #lastOutput(): string | undefined {
    try {
      this.#output?.flush();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** What a cell ends with that never ran, as the drivers say it. */
const interruption = {
  shell: { name: "InterruptedError", message: "", traceback: "" },
  python: { name: "KeyboardInterrupt", message: "", traceback: "KeyboardInterrupt\n" },
  javascript: {
    name: "InterruptedError",
    message: "the cell was interrupted before it began",
    traceback: "InterruptedError: the cell was interrupted before it began\n",
  },
} as const;

/** As a shell has it for a program that SIGINT has ended. */
const interruptedCommand: HostCommandResult = { exitCode: 130, stdout: "", stderr: "" };

const outOfMemory: JobExit = { exitCode: null, signal: "SIGKILL", oom: true };

function signalled(name: unknown): JobExit {
  if (name === "OOM") return outOfMemory;
  return { exitCode: null, signal: typeof name === "string" && signalNumber(name) ? name : "SIGABRT" };
}
