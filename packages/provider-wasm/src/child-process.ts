import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { SandboxError } from "@sandkit/core";
import type { Artifacts } from "./artifacts.js";
import { type CallContext, childError, lostError, providerName } from "./errors.js";
import { type CommandHandler, GuestCommands } from "./guest-commands.js";
import { type HardeningLevel, startHardened } from "./hardening/hardening.js";
import { Heartbeat } from "./heartbeat.js";
import { mostMemoryMiB } from "./memory-limits.js";
import type { FromGuest, ToGuest } from "./network/request-desk.js";
import { nodeFlags } from "./node-flags.js";
import type { PreparedArchive } from "./packages/wheel-layout.js";
import type {
  CallName,
  Calls,
  ChildOptions,
  FromChild,
  JobExit,
  OutputStream,
  SandboxSettings,
  ToChild,
} from "./protocol.js";

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

const hasGroups = process.platform !== "win32";
const keptStderr = 4000;
/** An idle child takes a claim in a millisecond; one that needs this long is stopped or stuck. */
const longestClaimMs = 3_000;
/** A start takes half a second, and a machine that starts fifty at once some seconds more. */
const longestStartMs = 60_000;

/** How a child is started. */
export interface StartOptions {
  readonly hardening: HardeningLevel;
  readonly signal?: AbortSignal | undefined;
  /** True: its start does not keep the caller's program alive. */
  readonly background?: boolean | undefined;
}

/** The locked child process of one sandbox, and the calls to it. */
export class SandboxChild {
  readonly #process: ChildProcess;
  #sandboxId = "(unclaimed)";
  readonly #calls = new Map<number, PendingCall>();
  readonly #jobs = new Map<string, JobObserver>();
  readonly #heartbeat = new Heartbeat(
    () => this.#send({ type: "ping" }),
    () => {
      this.#lose("its process does not answer any more");
      this.#kill();
    },
  );
  #nextCall = 1;
  #stderr = "";
  #lost: string | undefined;
  #ending = false;
  /** Carries out what guests ask of the network. */
  #onRequest: ((message: FromGuest) => void) | undefined;
  readonly #over = new AbortController();
  readonly #commands = new GuestCommands(this.#over.signal);
  #onFilesChanged: (() => void) | undefined;
  #onReady: ((cached: boolean) => void) | undefined;
  #cached = false;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;

  private constructor([program = "", ...args]: readonly string[]) {
    this.#process = spawn(program, args, {
      env: {},
      cwd: "/",
      serialization: "advanced",
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      // In a group of its own, which ends as a whole: a wall that is still being put up is several processes.
      detached: hasGroups,
    });
    this.#process.stdout?.resume();
    // Read for the reason of a death, never shown: Node's warnings about its flags are not for users.
    this.#process.stderr?.on("data", (bytes: Buffer) => {
      this.#stderr = (this.#stderr + bytes.toString()).slice(-keptStderr);
    });
    // Once, while they are open: a closed one would keep a listener of each further call.
    this.#refer("unref");
    this.#process.on("message", (message: FromChild) => this.#receive(message));
    this.exited = new Promise((resolve) => {
      this.#process.on("error", (error) => {
        this.#lose(error.message);
        if (this.#process.pid === undefined) resolve();
      });
      this.#process.on("exit", (code, signal) => {
        this.#lose(`its process ended with ${signal ?? endOf(code)}`);
      });
      // Behind a wall the first process is not the one that holds the sandbox: that is gone when its streams are.
      this.#process.on("close", () => resolve());
    });
  }

  /**
   * Starts the child and waits until it can be claimed.
   * @throws SandboxError `UNAVAILABLE` with what the child said, or the signal's reason
   */
  static start(
    artifacts: Artifacts,
    options: ChildOptions,
    { hardening, ...start }: StartOptions,
  ): Promise<SandboxChild> {
    const readable = options.codeCache === undefined ? [] : [options.codeCache];
    const flags = nodeFlags(artifacts, readable);
    const program = [process.execPath, ...flags, join(artifacts.directory, "child.mjs"), JSON.stringify(options)];
    const launch = { command: program, artifacts, readable, dataMiB: mostMemoryMiB(options) };
    return startHardened(hardening, launch, (command) => SandboxChild.#start(command, start));
  }

  static async #start(
    command: readonly string[],
    { signal, background = false }: Pick<StartOptions, "signal" | "background">,
  ): Promise<SandboxChild> {
    signal?.throwIfAborted();
    const child = new SandboxChild(command);
    if (background) child.#holdLoop();
    const ready = new Promise<void>((resolve) => {
      child.#onReady = (cached) => {
        child.#cached = cached;
        resolve();
      };
    });
    const onAbort = () => void child.destroy();
    signal?.addEventListener("abort", onAbort);
    const timer = setTimeout(() => {
      child.#lose(`it was not ready in ${longestStartMs / 1000} s`);
      void child.destroy();
    }, longestStartMs);
    if (background) timer.unref();
    await Promise.race([ready, child.exited]);
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    if (signal?.aborted || child.#lost !== undefined) {
      await child.destroy();
      signal?.throwIfAborted();
      throw child.#startError();
    }
    child.#holdLoop();
    return child;
  }

  /** Makes it the sandbox of its user. False when it is dead or does not answer: then it has been ended. */
  async claim(sandboxId: string, settings: SandboxSettings): Promise<boolean> {
    this.#sandboxId = sandboxId;
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), longestClaimMs);
    });
    try {
      const call = this.call("claim", [settings], { operation: "create", subject: settings.workdir });
      if ((await Promise.race([call, silence])) !== false) return true;
    } catch (error) {
      if (this.#lost === undefined) {
        await this.destroy();
        throw error;
      }
    } finally {
      clearTimeout(timer);
    }
    await this.destroy();
    return false;
  }

  /** Whether its code was compiled before it started. */
  get cached(): boolean {
    return this.#cached;
  }

  get lost(): string | undefined {
    return this.#lost;
  }

  /** Aborted when the sandbox is at its end; the reason is the error of who still wants something of it. */
  get over(): AbortSignal {
    return this.#over.signal;
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

  /** Who carries out what guests ask for. */
  onCommand(handler: CommandHandler): void {
    this.#commands.handler = handler;
  }

  /** Who is told that files may be different from the last listing; once after each. */
  onFilesChanged(handler: () => void): void {
    this.#onFilesChanged = handler;
  }

  /** Who carries out what guests ask of the network. */
  onRequest(handler: (message: FromGuest) => void): void {
    this.#onRequest = handler;
  }

  /** Tells the child what has become of a request. */
  tell(message: ToGuest): void {
    if (this.#lost === undefined) this.#send({ type: "http", message });
  }

  /**
   * Unpacks packages into the sandbox in place of others: all of it or nothing.
   * @param remove Normalised names
   * @throws SandboxError `NO_SPACE`, `INVALID`
   */
  async install(archives: readonly PreparedArchive[], remove: readonly string[] = []): Promise<void> {
    if (archives.length === 0) return;
    const [first, ...others] = archives.map(({ filename }) => filename);
    const subject = others.length > 0 ? `${first} and ${others.length} more` : first;
    await this.call("changePackages", [{ remove, archives }], { operation: "packages", subject });
  }

  /** Ends the process at once and everything in it, and what the caller's process does for it. */
  async destroy(): Promise<void> {
    this.#abort("it was destroyed");
    this.#kill();
    // Referenced again: the caller waits for this end.
    this.#ending = true;
    this.#holdLoop();
    this.#refer("ref");
    await this.exited;
  }

  /** The whole group: bubblewrap, ended alone before it is ready, leaves its other half behind for ever. */
  #kill(): void {
    const { pid, exitCode, signalCode } = this.#process;
    if (!hasGroups || pid === undefined || exitCode !== null || signalCode !== null) {
      this.#process.kill("SIGKILL");
      return;
    }
    try {
      process.kill(-pid, "SIGKILL");
    } catch (error) {
      // Gone since.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }

  /** Whether the streams of the process, whose end is that of all behind it, keep the caller's program alive. */
  #refer(how: "ref" | "unref"): void {
    const streams = [this.#process.stdout, this.#process.stderr] as unknown as ({
      ref?(): void;
      unref?(): void;
    } | null)[];
    for (const stream of streams) stream?.[how]?.();
  }

  #send(message: ToChild): void {
    // A failure to send is followed by the exit of the child, which settles everything that waits.
    this.#process.send(message, () => undefined);
  }

  #receive(message: FromChild): void {
    this.#heartbeat.heard();
    switch (message.type) {
      case "ready":
        this.#onReady?.(message.cached);
        break;
      case "result":
        this.#take(message.id)?.resolve(message.value as never);
        break;
      case "changed":
        this.#onFilesChanged?.();
        break;
      case "failure": {
        const call = this.#take(message.id);
        call?.reject(childError(message.errno, message.message, call.context));
        break;
      }
      case "command":
        void this.#command(message);
        break;
      case "http":
        this.#onRequest?.(message.message);
        break;
      case "commandCancel":
        this.#commands.cancel(message.id);
        break;
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

  async #command(request: Extract<FromChild, { type: "command" }>): Promise<void> {
    const result = await this.#commands.run(request);
    if (this.#lost === undefined) this.#send({ type: "commandDone", id: request.id, result });
  }

  #abort(reason: string): void {
    const context = { operation: "sandbox", sandboxId: this.#sandboxId };
    if (!this.over.aborted) this.#over.abort(lostError(reason, context));
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
    this.#abort(reason);
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
    });
  }
}

/** A wall tells the signal that has ended the process behind it as a shell does. */
function endOf(code: number | null): string {
  const signal = Object.entries(constants.signals).find(([, number]) => code === 128 + number)?.[0];
  return signal ?? `exit code ${code}`;
}
