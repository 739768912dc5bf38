import { toByteStream } from "./data.js";
import { Deadline, settlesWithin, unlessAborted } from "./deadline.js";
import { SandboxError } from "./errors.js";
import type { Captured, EndReason, ExecResult } from "./exec.js";
import type { Data, OutputChunk, SpawnProcessOptions } from "./options.js";
import { OutputCapture } from "./output.js";
import { OutputStream } from "./output-stream.js";
import type { ProcessExit, ProviderProcess, PtySize } from "./provider.js";
import { execResult } from "./result.js";
import { tagged } from "./tagged-output.js";
import { type ProcessOwner, TreeKiller } from "./tree-killer.js";

const defaultMaxOutputBytes = 1024 * 1024;
const defaultKillGraceMs = 200;
/** How much later a box may end a program by itself, in milliseconds: this one may be busy. */
const deadlineSlackMs = 5_000;
/** How long listeners may hold up the result of a program that was ended. */
const listenerMs = 1_000;

/** One line of `processes()`. */
export interface ProcessInfo {
  readonly id: string;
  /** The number that the program has inside the sandbox. */
  readonly pid: number;
  /** As it was given; empty for one that another client started. */
  readonly command: readonly string[] | string;
  readonly running: boolean;
  readonly startedAt: Date;
}

/** When a box is to end a program, in milliseconds, should nobody be left who does; undefined without a limit. */
export function lastDeadlineMs({ timeoutMs, killGraceMs = defaultKillGraceMs }: SpawnProcessOptions) {
  return timeoutMs === undefined ? undefined : timeoutMs + killGraceMs + deadlineSlackMs;
}

/** A running program. Disposing it kills the tree. */
export class Process implements AsyncDisposable {
  /** Unique in its sandbox; `sandbox.process` finds it by this. */
  readonly id: string;
  /** The number that the program has inside the sandbox. */
  readonly pid: number;
  /**
   * Exact bytes, separately. Until iterated each stream drains into the bounded capture; iterating replays what was
   * captured and then pulls, holding the program up when the consumer is slow. One consumer at a time; one that stops
   * puts the stream back to draining.
   */
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;

  readonly #process: ProviderProcess;
  readonly #command: readonly string[] | string;
  readonly #options: SpawnProcessOptions;
  readonly #owner: ProcessOwner;
  readonly #startedAt = new Date();
  readonly #startedMs: number;
  readonly #captures: { readonly stdout: OutputCapture; readonly stderr: OutputCapture };
  readonly #streams: { readonly stdout: OutputStream; readonly stderr: OutputStream };
  readonly #deadline: Deadline;
  readonly #result: Promise<ExecResult>;
  readonly #drained: Promise<unknown>;
  readonly #killer: TreeKiller;
  #ending: EndReason | undefined;
  #ended = false;
  #failure: { readonly cause: unknown } | undefined;

  /** For core alone; users get one from `sandbox.spawn`. */
  constructor(
    process: ProviderProcess,
    command: readonly string[] | string,
    options: SpawnProcessOptions,
    { startedMs, ...owner }: ProcessOwner & { readonly startedMs: number },
  ) {
    this.id = process.id;
    this.#startedMs = startedMs;
    this.pid = process.pid;
    this.#process = process;
    this.#command = command;
    this.#options = options;
    this.#owner = owner;
    const limit = options.maxOutputBytes ?? defaultMaxOutputBytes;
    this.#captures = { stdout: new OutputCapture(limit), stderr: new OutputCapture(limit) };
    this.#killer = new TreeKiller(process, owner);
    this.#streams = { stdout: this.#open("stdout", limit), stderr: this.#open("stderr", limit) };
    this.#drained = Promise.all([this.#streams.stdout.done, this.#streams.stderr.done]);
    this.#drained.catch((error) => this.#fail(error));
    this.stdout = this.#streams.stdout;
    this.stderr = this.#streams.stderr;
    this.#deadline = new Deadline(options, (reason) => this.#end(reason));
    this.#deadline.resume();
    this.#result = this.#run();
    this.#result.catch(() => undefined);
    if (options.stdin !== undefined) this.#feed(options.stdin).catch((error) => this.#fail(error));
  }

  /** Both streams as they come, tagged. Counts as the consumer of both. */
  get output(): AsyncIterable<OutputChunk> {
    return { [Symbol.asyncIterator]: () => tagged(this.stdout, this.stderr) };
  }

  /** The bounded capture so far; never counts as reading. */
  captured(): { readonly stdout: Captured; readonly stderr: Captured } {
    return { stdout: this.#captures.stdout.snapshot(), stderr: this.#captures.stderr.snapshot() };
  }

  /** Gives the program input, text as UTF-8; resolves on acceptance. After its end it does nothing. */
  async write(data: string | Uint8Array): Promise<void> {
    await this.#process.write(typeof data === "string" ? new TextEncoder().encode(data) : data);
  }

  /** The program reads end of file after what was written. */
  async closeStdin(): Promise<void> {
    await this.#process.closeStdin();
  }

  /**
   * Ends the whole tree: SIGTERM, `killGraceMs`, SIGKILL; resolves when it is gone. With `SIGKILL` at once; with
   * another signal (`SIGINT`, …), delivers just that to the tree.
   * @throws SandboxError `SANDBOX_LOST` when death could not be confirmed: the sandbox was destroyed
   */
  async kill(signal?: string): Promise<void> {
    if (signal !== undefined && signal !== "SIGKILL") return this.#process.kill(signal);
    await this.#terminate(signal === "SIGKILL" ? 0 : (this.#options.killGraceMs ?? defaultKillGraceMs));
  }

  /**
   * The result once the program has ended. Giving up by `signal` rejects with its reason and lets the program run.
   * @throws SandboxError `SANDBOX_LOST` or `TRANSPORT` when its end cannot be known; or what `onOutput` threw
   */
  wait(options?: { readonly signal?: AbortSignal | undefined }): Promise<ExecResult> {
    return unlessAborted(this.#result, options?.signal);
  }

  /** Changes the size of the terminal. @throws SandboxError `UNSUPPORTED` without one */
  async resize(size: PtySize): Promise<void> {
    if (this.#process.resize) return this.#process.resize(size);
    throw new SandboxError("UNSUPPORTED", `process ${this.id} has no terminal: spawn it with "pty"`, {
      provider: this.#owner.provider,
      operation: "process.resize",
    });
  }

  /** What `processes()` says of it. */
  get info(): ProcessInfo {
    const { id, pid } = this;
    return { id, pid, command: this.#command, running: !this.#ended && !this.#killer.dead, startedAt: this.#startedAt };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #open(name: "stdout" | "stderr", limit: number): OutputStream {
    const { onOutput, onLimit } = this.#options;
    const capture = this.#captures[name];
    const decoder = onOutput && new TextDecoder();
    return new OutputStream(name, this.#process[name], capture, {
      onBytes: async (bytes) => {
        if (onLimit === "kill" && capture.totalBytes > limit) this.#end("output_limit");
        if (decoder) await onOutput({ stream: name, bytes, text: decoder.decode(bytes, { stream: true }) });
      },
      onEnd: async () => {
        const text = decoder?.decode();
        if (text) await onOutput?.({ stream: name, bytes: new Uint8Array(), text });
      },
    });
  }

  async #feed(data: Data): Promise<void> {
    const reader = toByteStream(data).getReader();
    const over = this.#process.exited.then(
      () => undefined,
      () => undefined,
    );
    try {
      for (;;) {
        const piece = await Promise.race([reader.read(), over]);
        if (!piece || piece.done) break;
        await this.#process.write(piece.value);
      }
    } finally {
      reader.cancel().catch(() => undefined);
      await this.#process.closeStdin();
    }
  }

  /** The run cannot go on for a reason of the caller's: it is killed, and `wait` rejects with that reason. */
  #fail(cause: unknown): void {
    if (this.#ended) return;
    this.#failure ??= { cause };
    this.#terminate(0).catch(() => undefined);
  }

  #end(reason: EndReason): void {
    if (this.#ending) return;
    this.#ending = reason;
    this.#terminate(this.#options.killGraceMs ?? defaultKillGraceMs).catch(() => undefined);
  }

  #terminate(graceMs: number): Promise<void> {
    this.#release();
    return this.#killer.kill(graceMs);
  }

  #release(): void {
    this.#streams.stdout.release();
    this.#streams.stderr.release();
  }

  async #run(): Promise<ExecResult> {
    try {
      const exit = await Promise.race([this.#process.exited, this.#killer.outcome.then(() => this.#process.exited)]);
      this.#deadline[Symbol.dispose]();
      this.#release();
      const drained = this.#drained.catch((error) => this.#fail(error));
      // A listener may hold up a program that ends by itself, but not the result of one that was ended.
      await Promise.race([drained, this.#killer.outcome.then(() => settlesWithin(drained, listenerMs))]);
      if (this.#killer.begun) await this.#killer.outcome;
      if (this.#failure) throw this.#failure.cause;
      return this.#toResult(exit);
    } finally {
      this.#ended = true;
      this.#deadline[Symbol.dispose]();
    }
  }

  #toResult(exit: ProcessExit): ExecResult {
    const reason = this.#ending ?? (exit.oom ? "oom" : exit.signal === undefined ? "exited" : "signaled");
    return execResult(
      {
        exitCode: reason === "exited" ? exit.exitCode : null,
        signal: exit.signal,
        reason,
        ...this.captured(),
        stderrMerged: this.#options.mergeStderr ?? false,
        durationMs: performance.now() - this.#startedMs,
        usage: exit.usage,
      },
      this.#command,
      this.#owner.provider,
    );
  }
}
