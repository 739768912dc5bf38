import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { SandboxError } from "@sandkit/core";
import type { Artifacts } from "./artifacts.js";
import { type CallContext, childError, lostError, providerName } from "./errors.js";
import { Heartbeat } from "./heartbeat.js";
import type { CallName, Calls, ChildOptions, FromChild, JobExit, OutputStream, ToChild } from "./protocol.js";

/** Who is told what one job does. */
export interface JobObserver {
  output(stream: OutputStream, bytes: Uint8Array): void;
  ended(exit: JobExit): void;
  /** The child is gone; how the job ended cannot be known. */
  lost(reason: string): void;
}

interface PendingCall {
  readonly context: CallContext;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

const keptStderr = 4000;

/** The locked child process of one sandbox, and the calls to it. */
export class SandboxChild {
  readonly #process: ChildProcess;
  readonly #sandboxId: string;
  readonly #calls = new Map<number, PendingCall>();
  readonly #jobs = new Map<string, JobObserver>();
  readonly #heartbeat = new Heartbeat(
    () => this.#send({ type: "ping" }),
    () => {
      this.#lose("its process does not answer any more");
      this.#process.kill("SIGKILL");
    },
  );
  #nextCall = 1;
  #stderr = "";
  #lost: string | undefined;
  #ending = false;
  #onReady: (() => void) | undefined;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;

  private constructor(artifacts: Artifacts, options: ChildOptions, sandboxId: string) {
    this.#sandboxId = sandboxId;
    this.#process = fork(join(artifacts.directory, "child.mjs"), [JSON.stringify(options)], {
      execArgv: nodeFlags(artifacts),
      env: {},
      cwd: "/",
      serialization: "advanced",
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#process.stdout?.resume();
    // Read for the reason of a death, never shown: Node's warnings about its flags are not for users.
    this.#process.stderr?.on("data", (bytes: Buffer) => {
      this.#stderr = (this.#stderr + bytes.toString()).slice(-keptStderr);
    });
    // Once, while they are open: a closed one would keep a listener of each further call.
    const streams = [this.#process.stdout, this.#process.stderr] as unknown as ({ unref?(): void } | null)[];
    for (const stream of streams) stream?.unref?.();
    this.#process.on("message", (message: FromChild) => this.#receive(message));
    this.exited = new Promise((resolve) => {
      this.#process.on("error", (error) => {
        this.#lose(error.message);
        if (this.#process.pid === undefined) resolve();
      });
      this.#process.on("exit", (code, signal) => {
        this.#lose(`its process ended with ${signal ?? `exit code ${code}`}`);
        resolve();
      });
    });
  }

  /**
   * Starts the child and waits until it takes calls.
   * @throws SandboxError `UNAVAILABLE` with what the child said, or the signal's reason
   */
  static async start(
    artifacts: Artifacts,
    options: ChildOptions,
    sandboxId: string,
    signal: AbortSignal | undefined,
  ): Promise<SandboxChild> {
    signal?.throwIfAborted();
    const child = new SandboxChild(artifacts, options, sandboxId);
    const ready = new Promise<void>((resolve) => {
      child.#onReady = resolve;
    });
    const onAbort = () => void child.destroy();
    signal?.addEventListener("abort", onAbort);
    await Promise.race([ready, child.exited]);
    signal?.removeEventListener("abort", onAbort);
    if (signal?.aborted || child.#lost !== undefined) {
      await child.destroy();
      signal?.throwIfAborted();
      throw child.#startError();
    }
    child.#holdLoop();
    return child;
  }

  get lost(): string | undefined {
    return this.#lost;
  }

  /** Calls the child. @throws SandboxError as the failure maps, or `SANDBOX_LOST` */
  call<Name extends CallName>(
    name: Name,
    args: Calls[Name]["args"],
    what: Omit<CallContext, "sandboxId">,
  ): Promise<Calls[Name]["result"]> {
    const context = { ...what, sandboxId: this.#sandboxId };
    if (this.#lost !== undefined) return Promise.reject(lostError(this.#lost, context));
    const id = this.#nextCall++;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { context, resolve: resolve as (value: never) => void, reject });
      this.#holdLoop();
      this.#send({ type: "call", id, name, args });
    });
  }

  /** Tells the child that output was taken, so that more may come. */
  taken(job: string, stream: OutputStream, bytes: number): void {
    if (this.#lost === undefined) this.#send({ type: "taken", job, stream, bytes });
  }

  /** Observes a job until it ends. To be called before the call that starts it. */
  observe(job: string, observer: JobObserver): void {
    this.#jobs.set(job, observer);
    this.#holdLoop();
  }

  unobserve(job: string): void {
    this.#jobs.delete(job);
    this.#holdLoop();
  }

  /** Ends the process at once and everything in it. */
  async destroy(): Promise<void> {
    this.#process.kill("SIGKILL");
    // Referenced again: the caller waits for this end.
    this.#ending = true;
    this.#holdLoop();
    await this.exited;
  }

  #send(message: ToChild): void {
    // A failure to send is followed by the exit of the child, which settles everything that waits.
    this.#process.send(message, () => undefined);
  }

  #receive(message: FromChild): void {
    this.#heartbeat.heard();
    switch (message.type) {
      case "ready":
        this.#onReady?.();
        break;
      case "result":
        this.#take(message.id)?.resolve(message.value as never);
        break;
      case "failure": {
        const call = this.#take(message.id);
        call?.reject(childError(message.errno, message.message, call.context));
        break;
      }
      case "output":
        this.#jobs.get(message.job)?.output(message.stream, message.bytes);
        break;
      case "ended": {
        const observer = this.#jobs.get(message.job);
        this.unobserve(message.job);
        observer?.ended(message.exit);
        break;
      }
    }
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    this.#holdLoop();
    return call;
  }

  #lose(reason: string): void {
    if (this.#lost !== undefined) return;
    this.#lost = reason;
    for (const call of this.#calls.values()) call.reject(lostError(reason, call.context));
    for (const observer of this.#jobs.values()) observer.lost(reason);
    this.#calls.clear();
    this.#jobs.clear();
    this.#heartbeat.watch(false);
  }

  /** Keeps the caller's program alive while something is under way, and only then. */
  #holdLoop(): void {
    const busy = this.#calls.size + this.#jobs.size > 0;
    this.#heartbeat.watch(busy);
    if (this.#ending && this.#lost === undefined) this.#process.ref();
    else this.#process.unref();
    if (busy) this.#process.channel?.ref();
    else this.#process.channel?.unref();
  }

  #startError(): SandboxError {
    const said = this.#stderr.trim();
    const details = said === "" ? "" : `: ${said}`;
    return new SandboxError("UNAVAILABLE", `the sandbox's process did not start (${this.#lost})${details}`, {
      provider: providerName,
      operation: "create",
      sandboxId: this.#sandboxId,
    });
  }
}

/** The name of Node's permission flag in this version. */
export function permissionFlag(): string {
  return process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission";
}

/** Read access to our files, Pyodide's and QuickJS's, threads, and nothing else: no writing, no processes, no addons. */
function nodeFlags({ directory, pyodide, quickjs }: Artifacts): string[] {
  return [
    permissionFlag(),
    `--allow-fs-read=${directory}/`,
    `--allow-fs-read=${pyodide}/`,
    `--allow-fs-read=${quickjs}/`,
    "--allow-worker",
    "--disallow-code-generation-from-strings",
    "--no-warnings",
  ];
}
