import { randomUUID } from "node:crypto";
import { Deadline, settlesWithin, unlessAborted } from "../deadline.js";
import { deferred } from "../deferred.js";
import { SandboxError } from "../errors.js";
import type { Captured, EndReason } from "../exec.js";
import { checkOptions, type RunCodeOptions } from "../options.js";
import type { CellError, KernelLanguage, MimeBundle, ProviderCell, ProviderKernel } from "../provider.js";
import type { Abandon } from "../tree-killer.js";
import { CellOutput } from "./cell-output.js";

const defaultInterruptGraceMs = 500;
/** How long an interpreter may take to be gone after a kill before the sandbox is given up. */
const deathMs = 5_000;

/** What a cell did. An exception, a timeout or an abort is a result, with its partial output. */
export interface CellResult {
  /** 0; 1 after an exception; the code of a `SystemExit`; null unless `reason` is `exited`. */
  readonly exitCode: number | null;
  /** JSON of the last expression, where it has one. */
  readonly value?: unknown;
  /** What the cell displayed, in order; the value of the last expression comes last. */
  readonly outputs: readonly MimeBundle[];
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly error?: CellError | undefined;
  readonly reason: EndReason;
  /** True when it ran to its end without an exception. */
  readonly ok: boolean;
  /** True when the interpreter was ended: what earlier cells defined is gone, and the next cell starts fresh. */
  readonly stateLost: boolean;
  /** Of the cell itself, in milliseconds; its wait for a turn does not count. */
  readonly durationMs: number;
}

/** Bounds of one cell. */
export type CellOptions = Omit<RunCodeOptions, "language" | "kernel">;

/** What a kernel needs to know of its sandbox. */
export interface KernelOwner {
  readonly provider: string;
  readonly start: () => Promise<ProviderKernel>;
  /** Asks for approval of the code. @throws SandboxError `DENIED` */
  readonly approve: (code: string) => Promise<void>;
  readonly abandon: Abandon;
  readonly onClose: () => void;
}

/** A stateful interpreter. Cells are queued, never interleaved. */
export class Kernel implements AsyncDisposable {
  readonly id: string;
  readonly language: KernelLanguage;
  readonly #owner: KernelOwner;
  #interpreter: ProviderKernel | undefined;
  #starting: Promise<ProviderKernel> | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #running: { readonly settled: Promise<unknown>; readonly graceMs: number } | undefined;
  #closed = false;

  /** For core alone; users get one from `sandbox.kernel`. */
  constructor(language: KernelLanguage, id: string | undefined, owner: KernelOwner) {
    this.id = id ?? `${language}-${randomUUID().slice(0, 8)}`;
    this.language = language;
    this.#owner = owner;
  }

  /**
   * Runs one cell after those asked for before it. The clock of `timeoutMs` starts with the cell itself.
   * At the deadline the cell is interrupted, and the interpreter killed if it does not stop within
   * `interruptGraceMs` (default 500).
   * @throws SandboxError `DENIED`, `INVALID`, `KERNEL_UNAVAILABLE`, `SANDBOX_LOST`
   */
  async run(code: string, options: CellOptions = {}): Promise<CellResult> {
    checkOptions("cell", options);
    if (typeof code !== "string") {
      throw new SandboxError("INVALID", `the code of a cell must be a string, not ${typeof code}`, {
        provider: this.#owner.provider,
        operation: "kernel.run",
      });
    }
    const begun = deferred<void>();
    const turn = this.#enqueue(() => {
      begun.resolve();
      return this.#cell(code, options);
    });
    try {
      await unlessAborted(begun.promise, options.signal);
    } catch (error) {
      if (!options.signal?.aborted || error !== options.signal.reason) throw error;
      // Still in the queue: when its turn comes it ends at once, which nobody need wait for.
      return cellResult(new CellOutput(options), { reason: "aborted", startedMs: performance.now() });
    }
    return await turn;
  }

  /** Starts the interpreter, so that a language that is not there is found out now. */
  async start(): Promise<void> {
    await this.#enqueue(() => this.#ready());
  }

  /** Stops the running cell, keeping the state where the interpreter allows it. Without one it does nothing. */
  async interrupt(): Promise<{ readonly stateLost: boolean }> {
    const running = this.#running;
    if (!running || !this.#interpreter) return { stateLost: false };
    return { stateLost: await this.#stop(this.#interpreter, running) };
  }

  /** A fresh interpreter; a running cell is ended, cells in the queue run in the fresh one. */
  async restart(): Promise<void> {
    await this.#kill();
    await this.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#owner.onClose();
    await this.#kill();
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async #ready(): Promise<ProviderKernel> {
    if (this.#closed) throw this.#closedError();
    if (this.#interpreter) return this.#interpreter;
    // One at a time, also when the cell that asked for it no longer waits.
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #start(): Promise<ProviderKernel> {
    const interpreter = await this.#owner.start();
    if (this.#closed) {
      await interpreter.kill();
      throw this.#closedError();
    }
    this.#interpreter = interpreter;
    return interpreter;
  }

  #closedError(): SandboxError {
    return new SandboxError("NOT_FOUND", `kernel "${this.id}" was closed: ask the sandbox for a new one`, {
      provider: this.#owner.provider,
      operation: "kernel.run",
    });
  }

  async #cell(code: string, options: CellOptions): Promise<CellResult> {
    const output = new CellOutput(options);
    if (options.signal?.aborted) return cellResult(output, { reason: "aborted", startedMs: performance.now() });
    let interpreter: ProviderKernel;
    try {
      await unlessAborted(this.#owner.approve(code), options.signal);
      interpreter = await unlessAborted(this.#ready(), options.signal);
    } catch (error) {
      if (!options.signal?.aborted || error !== options.signal.reason) throw error;
      return cellResult(output, { reason: "aborted", startedMs: performance.now() });
    }
    return this.#execute(interpreter, code, options, output);
  }

  async #execute(
    interpreter: ProviderKernel,
    code: string,
    options: CellOptions,
    output: CellOutput,
  ): Promise<CellResult> {
    const startedMs = performance.now();
    const graceMs = options.interruptGraceMs ?? defaultInterruptGraceMs;
    let ending: EndReason | undefined;
    let stopping: Promise<unknown> | undefined;
    const settled = interpreter.execute(code, { onOutput: (stream, bytes) => output.add(stream, bytes) });
    const running = { settled, graceMs };
    this.#running = running;
    const stop = () => {
      stopping ??= this.#stop(interpreter, running);
      stopping.catch(() => undefined);
    };
    output.onFailure = stop;
    const deadline = new Deadline(options, (reason) => {
      ending = reason;
      stop();
    });
    deadline.resume();
    try {
      const cell = await settled;
      await stopping;
      await output.end();
      if (output.failure) throw output.failure.cause;
      return cellResult(output, { cell, reason: ending ?? reasonOf(cell), startedMs });
    } finally {
      deadline[Symbol.dispose]();
      this.#running = undefined;
      settled.then(
        (cell) => cell.died && this.#forget(interpreter),
        () => this.#forget(interpreter),
      );
    }
  }

  #forget(interpreter: ProviderKernel): void {
    if (this.#interpreter === interpreter) this.#interpreter = undefined;
  }

  /** Interrupt, grace, kill. Tells whether the state is lost. */
  async #stop(interpreter: ProviderKernel, running: { settled: Promise<unknown>; graceMs: number }): Promise<boolean> {
    // An interrupt that fails or hangs leaves the kill.
    await settlesWithin(interpreter.interrupt(), running.graceMs);
    if (await settlesWithin(running.settled, running.graceMs)) return false;
    await this.#kill();
    return true;
  }

  async #kill(): Promise<void> {
    const interpreter = this.#interpreter;
    if (!interpreter) return;
    this.#interpreter = undefined;
    const running = this.#running;
    const dead = Promise.all([interpreter.kill(), running?.settled.catch(() => undefined)]);
    dead.catch(() => undefined);
    if (await settlesWithin(dead, deathMs)) return;
    await this.#owner.abandon(`kernel "${this.id}" did not die within ${deathMs} ms`, "kernel");
  }
}

function reasonOf(cell: ProviderCell): EndReason {
  if (cell.died === "oom") return "oom";
  return cell.died ? "signaled" : "exited";
}

function cellResult(
  output: CellOutput,
  run: { readonly cell?: ProviderCell; readonly reason: EndReason; readonly startedMs: number },
): CellResult {
  const { cell, reason } = run;
  const exitCode = reason === "exited" ? (cell?.exitCode ?? null) : null;
  return {
    exitCode,
    ...(cell && "value" in cell ? { value: cell.value } : {}),
    outputs: cell?.outputs ?? [],
    ...output.captured(),
    error: cell?.error,
    reason,
    ok: exitCode === 0 && cell?.error === undefined,
    stateLost: cell?.died !== undefined,
    durationMs: performance.now() - run.startedMs,
  };
}
