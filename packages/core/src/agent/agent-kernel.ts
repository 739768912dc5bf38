import { setTimeout } from "node:timers/promises";
import { settlesWithin } from "../deadline.js";
import { deferred } from "../deferred.js";
import { messageOf, SandboxError } from "../errors.js";
import { type KernelDriver, kernelSupport } from "../kernel/kernel-drivers.js";
import { type KernelMessage, readKernelMessage } from "../kernel/kernel-message.js";
import type {
  ExecuteOptions,
  KernelOptions,
  MimeBundle,
  ProcessExit,
  ProviderCell,
  ProviderKernel,
  ProviderProcess,
} from "../provider.js";
import { ControlLines } from "./control-lines.js";
import { KernelOutput } from "./kernel-output.js";

const startTimeoutMs = 60_000;
/** Pauses before an interrupt is repeated: the grace of a cell is 500 ms, unless it is asked to be longer. */
const insistMs = [50, 100, 200, 400];
/** The drivers hold to half of it, and say on stderr what they leave out. */
const maxResultBytes = 64_000_000;
/** How long the end of a driver may take to be told after that of its control streams. */
const endMs = 2_000;

/** A program with two more descriptors: 3 to read what `control` gives, 4 for what `controlOut` shows. */
export interface ControlledProcess extends ProviderProcess {
  /** Resolves on acceptance. After the program's end it does nothing. */
  control(data: Uint8Array): Promise<void>;
  /** Settles when the program reads descriptor 3 no more, which may show only when something is written to it. */
  readonly controlOver: Promise<void>;
  /**
   * What the program writes on descriptor 4. When a chunk of it can be read, all that the program wrote on 1 and 2
   * before can be read at once too, up to a window of each.
   */
  readonly controlOut: ReadableStream<Uint8Array>;
  /** SIGINT to the process group of the leader. */
  interrupt(): Promise<void>;
}

/** Starts a driver in the box; its stdin is at its end. */
export type SpawnControlled = (
  command: readonly string[],
  options: Pick<KernelOptions, "cwd" | "env">,
) => Promise<ControlledProcess>;

/** What was asked for, and the sandbox that it is for. */
export interface AgentKernelOptions extends KernelOptions {
  readonly provider: string;
  readonly sandboxId: string;
}

/**
 * Starts an interpreter that keeps its state between cells, over a process with control streams.
 * @throws SandboxError `KERNEL_UNAVAILABLE` when the box has none for the language, or one that does not start
 */
export async function startAgentKernel(spawn: SpawnControlled, options: AgentKernelOptions): Promise<ProviderKernel> {
  const { language, provider, sandboxId, cwd, env } = options;
  const support = kernelSupport[language];
  const unavailable = (problem: string) =>
    new SandboxError("KERNEL_UNAVAILABLE", `no ${language} kernel in sandbox ${sandboxId}: ${problem}`, {
      provider,
      sandboxId,
      operation: "kernel",
    });
  if (!support) throw unavailable(`there is no driver for it: use ${Object.keys(kernelSupport).join(", ")}`);
  const driver = await support.load();
  const kernel = new AgentKernel(await spawn(driver.command, { cwd, env }), driver, support.interpreter);
  const problem = await kernel.start();
  if (problem === undefined) return kernel;
  await kernel.kill();
  throw unavailable(`${problem}: ${support.fix}`);
}

interface RunningCell {
  readonly id: number;
  readonly outputs: MimeBundle[];
  /** Settles once an interrupt would hit it. */
  readonly started: ReturnType<typeof deferred<void>>;
  readonly settled: ReturnType<typeof deferred<ProviderCell>>;
}

type Death = Pick<ProviderCell, "died" | "error">;

/**
 * One interpreter under a driver. Every line of it may be forged by the guest: what breaks the rules of
 * {@link KernelMessage}, and what floods, ends the interpreter.
 */
class AgentKernel implements ProviderKernel {
  readonly id: string;
  readonly #process: ControlledProcess;
  readonly #driver: KernelDriver;
  readonly #interpreter: string;
  readonly #output: KernelOutput;
  readonly #lines = new ControlLines(maxResultBytes);
  readonly #ready = deferred<void>();
  /** Settles when the interpreter has ended and all that it left was read; rejects when its end cannot be known. */
  readonly #death: Promise<Death>;
  #dead: Death | undefined;
  #exit: ProcessExit | undefined;
  #cell: RunningCell | undefined;
  #lastId = 0;
  #interrupting: Promise<void> = Promise.resolve();
  #killed = false;
  #violation: string | undefined;

  constructor(process: ControlledProcess, driver: KernelDriver, interpreter: string) {
    this.id = process.id;
    this.#process = process;
    this.#driver = driver;
    this.#interpreter = interpreter;
    this.#output = new KernelOutput(process);
    const listening = this.#listen();
    process.controlOver.then(() => this.#expectEnd(3));
    // Told by the death too, which may be found out first.
    listening.catch(() => undefined);
    this.#death = this.#watch(listening);
    this.#death.catch(() => undefined);
  }

  /** Waits until the driver takes cells; what is wrong when it does not. */
  async start(): Promise<string | undefined> {
    this.#tell(this.#driver.preamble);
    const waited = new AbortController();
    const late = setTimeout(startTimeoutMs, "late" as const, { signal: waited.signal });
    late.catch(() => undefined);
    const outcome = await Promise.race([this.#ready.promise, this.#death, late]).finally(() => waited.abort());
    if (outcome === "late") return `the driver in ${this.#interpreter} was not ready within ${startTimeoutMs} ms`;
    const said = this.#output.takeKept().trim();
    if (outcome === undefined) return undefined;
    if (this.#exit?.exitCode === 127) return `${this.#interpreter} is not there`;
    return `${this.#interpreter} ended before it took a cell (${this.#ending()})${said && `: ${said.slice(0, 2_000)}`}`;
  }

  async execute(code: string, { onOutput }: ExecuteOptions): Promise<ProviderCell> {
    // One that was meant for the cell before must not hit this one.
    await this.#interrupting;
    if (this.#dead) return { exitCode: null, outputs: [], ...this.#dead };
    this.#lastId += 1;
    const cell: RunningCell = { id: this.#lastId, outputs: [], started: deferred(), settled: deferred() };
    this.#cell = cell;
    this.#lines.renew();
    this.#output.attach(onOutput);
    try {
      this.#tell(this.#driver.cell(cell.id, code));
      return await Promise.race([cell.settled.promise, this.#died(cell)]);
    } finally {
      cell.started.resolve();
      this.#cell = undefined;
    }
  }

  interrupt(): Promise<void> {
    const cell = this.#cell;
    if (!cell) return Promise.resolve();
    const asked = this.#interrupt(cell);
    this.#interrupting = asked.then(() => this.#insist(cell)).catch(() => undefined);
    return asked;
  }

  async kill(): Promise<void> {
    this.#killed = true;
    await this.#process.kill("SIGKILL");
    await this.#process.gone;
  }

  async #interrupt(cell: RunningCell): Promise<void> {
    if (this.#driver.interruptedBy === "line") {
      this.#tell(`{"interrupt":${cell.id}}\n`);
      return;
    }
    await cell.started.promise;
    if (this.#cell === cell) await this.#process.interrupt();
  }

  /** Repeats an interrupt that may have been lost. */
  async #insist(cell: RunningCell): Promise<void> {
    if (this.#driver.interruptedBy !== "signals") return;
    for (const pauseMs of insistMs) {
      await Promise.race([cell.settled.promise, this.#process.exited, setTimeout(pauseMs)]);
      if (this.#cell !== cell) return;
      await this.#process.interrupt();
    }
  }

  #tell(line: string): void {
    this.#process.control(new TextEncoder().encode(line)).catch((error) => {
      this.#violate(`it cannot be reached: ${messageOf(error)}`);
    });
  }

  async #died(cell: RunningCell): Promise<ProviderCell> {
    return { exitCode: null, outputs: cell.outputs, ...(await this.#death) };
  }

  /** Follows the driver to its end. */
  async #listen(): Promise<void> {
    for await (const chunk of this.#process.controlOut) {
      try {
        for (const line of this.#lines.add(chunk)) await this.#take(readKernelMessage(line));
      } catch (error) {
        this.#violate(messageOf(error));
        return;
      }
    }
    this.#expectEnd(4);
  }

  /** A driver whose control is closed hears or tells nothing any more: it ends, or is ended. */
  async #expectEnd(descriptor: number): Promise<void> {
    if (await settlesWithin(this.#process.exited, endMs)) return;
    this.#violate(`descriptor ${descriptor} is closed`);
  }

  async #take(message: KernelMessage): Promise<void> {
    if (message.kind === "ready") {
      this.#ready.resolve();
      return;
    }
    const cell = this.#cell;
    if (cell?.id !== message.id) throw new Error(`it speaks of cell ${message.id}, which does not run`);
    if (message.kind === "started") cell.started.resolve();
    else if (message.kind === "display") cell.outputs.push(message.bundle);
    else {
      // No more of this cell's output than has come by now.
      await this.#output.detach();
      this.#cell = undefined;
      cell.settled.resolve({ ...message.cell, outputs: cell.outputs });
    }
  }

  /** Ends an interpreter whose driver is not to be believed. */
  #violate(what: string): void {
    this.#violation ??= what;
    this.#process.kill("SIGKILL").catch(() => undefined);
  }

  async #watch(listening: Promise<void>): Promise<Death> {
    this.#exit = await this.#process.exited;
    // What the interpreter leaves behind was its own.
    await this.#process.kill("SIGKILL");
    await Promise.all([listening, this.#output.done]);
    this.#dead = this.#describeDeath(this.#exit);
    return this.#dead;
  }

  #describeDeath(exit: ProcessExit): Death {
    if (this.#killed) return { died: "killed" };
    if (exit.oom) return { died: "oom" };
    const message =
      this.#violation === undefined
        ? `${this.#interpreter} ended by itself (${this.#ending()}): the next cell starts a new one`
        : `the kernel was ended, because its driver broke the protocol: ${this.#violation}`;
    return { died: "crashed", error: { name: "KernelDied", message, traceback: `KernelDied: ${message}\n` } };
  }

  #ending(): string {
    return this.#exit?.signal ?? `exit code ${this.#exit?.exitCode}`;
  }
}
