import type { Capabilities } from "./capabilities.js";
import { requireFeature } from "./capabilities.js";
import { unlessAborted } from "./deadline.js";
import { describeSandbox } from "./describe.js";
import { messageOf, SandboxError } from "./errors.js";
import type { ExecResult } from "./exec.js";
import { Files } from "./files.js";
import { Git } from "./git/git.js";
import type { CellResult, Kernel } from "./kernel/kernel.js";
import { Kernels } from "./kernel/kernels.js";
import type { Contact } from "./network/contact.js";
import { Once } from "./once.js";
import {
  type ApprovalRequest,
  type CreateOptions,
  checkOptions,
  type ExecOptions,
  type KernelRequest,
  type RunCodeOptions,
  type SpawnProcessOptions,
} from "./options.js";
import { emptyCapture } from "./output.js";
import { resolvePath } from "./paths.js";
import { lastDeadlineMs, Process, type ProcessInfo } from "./process.js";
import { ProcessTable } from "./process-table.js";
import type { PortInfo, ProviderProcess, ProviderSession, SandboxInfo, SandboxRef, SnapshotInfo } from "./provider.js";
import { execResult } from "./result.js";
import type { Abandon } from "./tree-killer.js";

/** A command: a string is run by `sh -c`, an array without a shell. */
export type Command = string | readonly string[];

type Approve = CreateOptions["approve"];

const maxForks = 100;

/**
 * An isolated place to run code. Made by `createSandbox`, found by `attachSandbox`; ends by `destroy`, by its lifetime,
 * or when disposed. All members throw `SandboxError`: `EXPIRED` after its lifetime, `NOT_FOUND` after `destroy`,
 * `SANDBOX_LOST` when the backend lost it, `UNSUPPORTED` for what the provider cannot do, `INVALID` for bad options.
 */
export class Sandbox implements AsyncDisposable {
  readonly ref: SandboxRef;
  readonly files: Files;
  /** @throws SandboxError `UNSUPPORTED` where the sandbox has no git */
  readonly git: Git;
  readonly #session: ProviderSession;
  readonly #approve: Approve;
  readonly #processes = new ProcessTable();
  readonly #kernels: Kernels;
  readonly #destruction = new Once<void>();

  /** For core alone; users call `createSandbox` or `attachSandbox`. */
  constructor(session: ProviderSession, approve?: Approve) {
    this.#session = session;
    this.#approve = approve;
    this.ref = session.ref;
    this.files = new Files({
      provider: session.ref.provider,
      get workdir() {
        return session.workdir;
      },
      files: session.files,
      assertAlive: (operation) => this.#assertAlive(operation),
    });
    this.git = new Git(this);
    this.#kernels = new Kernels({
      session,
      approve: approve && ((code, language) => this.#askApproval({ kind: "code", code, language })),
      abandon: this.#abandon,
    });
  }

  /**
   * Absolute. Relative paths resolve against it; commands start in it. Of a sandbox that was found paused, surely known
   * once it is resumed.
   */
  get workdir(): string {
    return this.#session.workdir;
  }

  /** What it can do: of one that was found paused, at most, until it is resumed. */
  get capabilities(): Capabilities {
    return this.#session.capabilities;
  }

  /**
   * Runs a command to its end. A non-zero exit, a timeout and an abort are results with their partial output; when the
   * promise of one that was ended settles, its whole process tree is dead.
   * @throws SandboxError `FILE_NOT_FOUND` or `NOT_DIRECTORY` for a bad `cwd`; `DENIED`
   */
  async exec(command: Command, options: ExecOptions = {}): Promise<ExecResult> {
    checkOptions("exec", options);
    const started = performance.now();
    try {
      const process = await this.#start(command, options, options.stdin !== undefined, "exec");
      try {
        return await process.wait();
      } finally {
        this.#processes.remove(process.id);
      }
    } catch (error) {
      if (!options.signal?.aborted || error !== options.signal.reason) throw error;
      return this.#abortedBeforeStart(command, options, performance.now() - started);
    }
  }

  /**
   * Starts a command and gives its handle. Without the option `stdin` its input stays open until `closeStdin`.
   * @throws SandboxError `FILE_NOT_FOUND` or `NOT_DIRECTORY` for a bad `cwd`; `DENIED`; `UNSUPPORTED` without
   * `process.background`; or `signal.reason` where it is aborted before the program has started
   */
  async spawn(command: Command, options: SpawnProcessOptions = {}): Promise<Process> {
    checkOptions("spawn", options);
    this.#require("process.background", "spawn");
    return this.#start(command, options, true, "spawn");
  }

  /**
   * The handle of a process by its id, or null: one started through this object and, with `process.reattach`, one that
   * another client started.
   */
  async process(id: string): Promise<Process | null> {
    this.#assertAlive("process");
    const known = this.#processes.get(id);
    if (known || !this.#session.process) return known ?? null;
    const found = await this.#session.process(id);
    return found && this.#adopt(found, [], {});
  }

  /** The processes started through this object: those that run and the latest that ended. */
  async processes(): Promise<ProcessInfo[]> {
    this.#assertAlive("processes");
    return this.#processes.list();
  }

  /**
   * Runs a cell in a stateful interpreter: the default kernel of the language, or the one named by `kernel`.
   * @throws SandboxError `KERNEL_UNAVAILABLE`, `NOT_FOUND` for an unknown kernel, `DENIED`
   */
  async runCode(code: string, options: RunCodeOptions = {}): Promise<CellResult> {
    checkOptions("runCode", options);
    this.#assertAlive("runCode");
    const { language, kernel, ...bounds } = options;
    return this.#kernels.find(kernel, language).runChecked(code, bounds);
  }

  /**
   * A kernel of one's own, or the existing one of that id.
   * @throws SandboxError `KERNEL_UNAVAILABLE`; `CONFLICT` when the existing one was made with other options
   */
  async kernel(request: KernelRequest = {}): Promise<Kernel> {
    checkOptions("kernel", request);
    this.#assertAlive("kernel");
    return this.#kernels.open(request);
  }

  /**
   * Has `listener` told of each contact of the sandbox with a host, allowed or refused, once it is over: of those that
   * begin from now on, and that this program serves where a detached sandbox has several clients.
   * @throws SandboxError `UNSUPPORTED` without `network.contacts`
   */
  onContact(listener: (contact: Contact) => void): void {
    this.#optional("onContact", "network.contacts")(listener);
  }

  /**
   * Has `listener` told of use that no call shows, once a second at most while it lasts: bytes through a port that this
   * program serves. What reaches a port by the backend's own address is not seen here, and not told.
   */
  onUse(listener: () => void): void {
    this.#assertAlive("onUse");
    this.#session.onUse?.(listener);
  }

  /**
   * Makes a port of the sandbox reachable from here, or from wherever the backend's address leads.
   * @param options `waitMs`: how long something may take to listen there, in milliseconds; default 0: it is not looked
   * whether something does
   * @throws SandboxError `UNSUPPORTED` without `ports`; `UNAVAILABLE` when nothing listens in time
   */
  async port(port: number, options?: { readonly waitMs?: number | undefined }): Promise<PortInfo> {
    return this.#optional("port", "ports")(port, options);
  }

  /** What the backend says of the sandbox now. */
  async info(): Promise<SandboxInfo> {
    return this.#session.info();
  }

  /** Moves the end of life to `ttlMs` from now, in milliseconds. @throws SandboxError `UNSUPPORTED`, `INVALID` */
  async extend(ttlMs: number): Promise<void> {
    checkOptions("extend", ttlMs);
    await this.#optional("extend", "lifetime.ttl")(ttlMs);
  }

  /**
   * Keeps the sandbox for later without running it: its programs stand still, or end where the backend keeps files
   * alone. Until `resume`, all but `info`, `resume` and `destroy` is `UNAVAILABLE`. Idempotent, as is `resume`.
   * @throws SandboxError `UNSUPPORTED` without `pause`
   */
  async pause(): Promise<void> {
    await this.#optional("pause", "pause")();
  }

  /** Has a paused sandbox go on. @throws SandboxError `UNSUPPORTED` without `pause` */
  async resume(): Promise<void> {
    await this.#optional("resume", "pause")();
  }

  /**
   * Saves what was written; `createSandbox` takes the id as `snapshot`. It outlives the sandbox, until the provider's
   * `removeSnapshot`. A name is for people; 1 to 200 characters.
   * @throws SandboxError `UNSUPPORTED` without `snapshot`; `PERMISSION` for a file that cannot be read
   */
  async snapshot(name?: string): Promise<SnapshotInfo> {
    if (name !== undefined && (typeof name !== "string" || !/^[^\0]{1,200}$/su.test(name))) {
      throw this.#invalid("snapshot", "the name of a snapshot is a text of 1 to 200 characters, without NUL");
    }
    return this.#optional("snapshot", "snapshot")(name);
  }

  /**
   * Copies of the living sandbox, 1 to 100, with its options and files, but not its name: all of them, or none.
   * @throws SandboxError `UNSUPPORTED` without `fork`
   */
  async fork(count = 1): Promise<Sandbox[]> {
    if (!Number.isInteger(count) || count < 1 || count > maxForks) {
      throw this.#invalid("fork", `fork(${count}): how many is a whole number from 1 to ${maxForks}`);
    }
    const sessions = await this.#optional("fork", "fork")(count);
    return sessions.map((session) => new Sandbox(session, this.#approve));
  }

  /** What a model should know to use the sandbox: place, languages, limits, network. */
  async describe(): Promise<string> {
    return describeSandbox(await this.#session.info(), this.workdir, this.capabilities);
  }

  /** Ends the sandbox and everything in it. Idempotent; throws only if it may still exist. */
  async destroy(): Promise<void> {
    await this.#destruction.run(() => this.#session.destroy());
  }

  /** The vendor's own object, for what this class does not cover; undefined where the provider has none. */
  native<T = unknown>(): T {
    return this.#session.native as T;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy();
  }

  async #start(command: Command, options: SpawnProcessOptions, stdin: boolean, operation: string): Promise<Process> {
    this.#assertAlive(operation);
    const argv = this.#argv(command, operation);
    if (options.stdin !== undefined) this.#require("exec.stdin", 'option "stdin"');
    if (options.user !== undefined) this.#require("exec.user", 'option "user"');
    if (options.pty !== undefined) this.#require("exec.pty", 'option "pty"');
    const cwd = options.cwd === undefined ? undefined : resolvePath(this.workdir, options.cwd, operation);
    const { env, mergeStderr, user, pty, signal } = options;
    const deadlineMs = lastDeadlineMs(options);
    signal?.throwIfAborted();
    const asked = typeof command === "string" ? { code: command } : { code: command.join(" "), argv };
    const given = { ...(cwd !== undefined && { cwd }), ...(env && { env }), ...(user !== undefined && { user }) };
    await unlessAborted(this.#askApproval({ kind: "exec", ...asked, ...given }), signal);
    // Where it runs it may be over before the answer to the start is here.
    const startedMs = performance.now();
    const started = await this.#session.spawn(argv, { cwd, env, stdin, mergeStderr, user, pty, deadlineMs, signal });
    return this.#adopt(started, command, options, startedMs);
  }

  #adopt(found: ProviderProcess, command: Command, options: SpawnProcessOptions, startedMs?: number): Process {
    const process = new Process(found, command, options, {
      provider: this.ref.provider,
      abandon: this.#abandon,
      startedMs: startedMs ?? performance.now(),
    });
    this.#processes.add(process);
    return process;
  }

  #argv(command: Command, operation: string): readonly string[] {
    if (typeof command === "string") {
      if (command.trim() === "")
        throw this.#invalid(operation, "the command is empty: give a command line or an argument array");
      if (command.includes("\0"))
        throw this.#invalid(operation, "a command cannot contain NUL: write such data to a file or to stdin");
      this.#require(
        "exec",
        "a command string",
        'pass the program and its arguments as an array, such as ["python3", "main.py"]',
      );
      return ["sh", "-c", command];
    }
    if (!Array.isArray(command) || command.length === 0 || !command.every((word) => typeof word === "string")) {
      throw this.#invalid(operation, "a command is a string, or an array of strings that begins with the program");
    }
    if (command[0] === "")
      throw this.#invalid(operation, "the first word of a command is the program, and it is empty");
    if (command.some((word) => word.includes("\0")))
      throw this.#invalid(operation, "an argument cannot contain NUL: write such data to a file or to stdin");
    this.#require("exec.argv", "a command array");
    return [...command];
  }

  async #askApproval(request: ApprovalRequest): Promise<void> {
    if (!this.#approve) return;
    let approved: boolean;
    try {
      approved = await this.#approve(request);
    } catch (cause) {
      throw new SandboxError("DENIED", `approval failed, so nothing ran: ${messageOf(cause)}`, {
        ...this.#where(request.kind === "code" ? "runCode" : "exec"),
        cause,
      });
    }
    if (approved === true) return;
    throw new SandboxError(
      "DENIED",
      "the run was not approved, so nothing ran",
      this.#where(request.kind === "code" ? "runCode" : "exec"),
    );
  }

  #abortedBeforeStart(command: Command, options: ExecOptions, durationMs: number): ExecResult {
    return execResult(
      {
        exitCode: null,
        reason: "aborted",
        stdout: emptyCapture(),
        stderr: emptyCapture(),
        stderrMerged: options.mergeStderr ?? false,
        durationMs,
      },
      command,
      this.ref.provider,
    );
  }

  #optional<Name extends "port" | "onContact" | "pause" | "resume" | "snapshot" | "fork" | "extend">(
    name: Name,
    feature: Parameters<typeof requireFeature>[1],
  ): NonNullable<ProviderSession[Name]> {
    this.#assertAlive(name);
    this.#require(feature, name);
    const member = this.#session[name];
    if (!member)
      throw new SandboxError("UNSUPPORTED", `provider "${this.ref.provider}" has no ${name}`, this.#where(name));
    return member.bind(this.#session) as NonNullable<ProviderSession[Name]>;
  }

  readonly #abandon: Abandon = async (why, operation, cause) => {
    const next = await this.destroy().then(
      () => "so its sandbox was destroyed: create a new one",
      (error) => `and its sandbox could not be destroyed (${messageOf(error)}): call destroy again`,
    );
    throw new SandboxError("SANDBOX_LOST", `${why}, ${next}`, { ...this.#where(operation), cause });
  };

  #require(feature: Parameters<typeof requireFeature>[1], asked: string, hint?: string): void {
    requireFeature({ name: this.ref.provider, capabilities: this.capabilities }, feature, asked, hint);
  }

  #assertAlive(operation: string): void {
    if (!this.#destruction.begun) return;
    throw new SandboxError(
      "NOT_FOUND",
      `sandbox ${this.ref.id} was destroyed: create a new one`,
      this.#where(operation),
    );
  }

  #invalid(operation: string, message: string): SandboxError {
    return new SandboxError("INVALID", message, this.#where(operation));
  }

  #where(operation: string): { provider: string; sandboxId: string; operation: string } {
    return { provider: this.ref.provider, sandboxId: this.ref.id, operation };
  }
}
