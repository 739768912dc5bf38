import type { ExecuteOptions, ProviderCell, ProviderKernel } from "@sandkit/core";
import { deferred } from "@sandkit/core";
import type { JobObserver, SandboxChild } from "./child-process.js";
import { lostError } from "./errors.js";
import type { EncodeCell } from "./javascript-cells.js";
import { type Interpreter, interpreterNames, type JobExit, type OutputStream } from "./protocol.js";

type End = { readonly exit: JobExit } | { readonly lost: string };

/** How a kernel is spoken to. */
export interface KernelKind {
  readonly interpreter: Interpreter;
  /** Makes the message of a cell; the code itself where there is nothing to make. */
  readonly encode: EncodeCell;
}

/** One interpreter that keeps its state, as core sees it. */
export class WasmKernel implements ProviderKernel, JobObserver {
  readonly id: string;
  readonly #child: SandboxChild;
  readonly #sandboxId: string;
  readonly #kind: KernelKind;
  /** Handing output on is one chain, so that pieces never overtake one another. */
  #delivery: Promise<void> = Promise.resolve();
  #onOutput: ExecuteOptions["onOutput"] | undefined;
  /** Output of background tasks between two cells; it goes with the next one. */
  readonly #early: [OutputStream, Uint8Array][] = [];
  readonly #end = deferred<End>();
  #killed = false;

  constructor(child: SandboxChild, id: string, sandboxId: string, kind: KernelKind) {
    this.#kind = kind;
    this.#child = child;
    this.id = id;
    this.#sandboxId = sandboxId;
  }

  /** Resolves when its interpreter is gone. */
  get over(): Promise<unknown> {
    return this.#end.promise;
  }

  async execute(code: string, { onOutput }: ExecuteOptions): Promise<ProviderCell> {
    this.#onOutput = onOutput;
    // Anew for each cell: a listener that failed has failed its own cell only.
    this.#delivery = Promise.resolve();
    for (const [stream, bytes] of this.#early.splice(0)) this.#deliver(onOutput, stream, bytes);
    try {
      const call = this.#child.call("cell", [this.id, this.#kind.encode(code)], { operation: "kernel.execute" });
      // The failure is the same as the one of the kernel's end, which is looked at below.
      call.catch(() => undefined);
      const first = await Promise.race([call.then((cell) => ({ cell })), this.#end.promise]);
      await this.#delivery;
      if ("cell" in first) return first.cell;
      if ("lost" in first) throw lostError(first.lost, { operation: "kernel.execute", sandboxId: this.#sandboxId });
      return this.#deadCell(first.exit, onOutput);
    } finally {
      this.#onOutput = undefined;
    }
  }

  async interrupt(): Promise<void> {
    await this.#child.call("interrupt", [this.id], { operation: "kernel.interrupt" });
  }

  async kill(): Promise<void> {
    this.#killed = true;
    if (this.#child.lost === undefined) await this.#child.call("end", [this.id], { operation: "kernel.kill" });
    await this.#end.promise;
  }

  output(stream: OutputStream, bytes: Uint8Array): void {
    if (this.#onOutput) this.#deliver(this.#onOutput, stream, bytes);
    else this.#early.push([stream, bytes]);
  }

  ended(exit: JobExit): void {
    this.#end.resolve({ exit });
  }

  lost(reason: string): void {
    this.#end.resolve({ lost: reason });
  }

  #deliver(onOutput: ExecuteOptions["onOutput"], stream: OutputStream, bytes: Uint8Array): void {
    this.#delivery = this.#delivery.then(async () => {
      try {
        await onOutput(stream, bytes);
      } finally {
        this.#child.taken(this.id, stream, bytes.length);
      }
    });
    // A consumer that throws is told so by the awaited chain of its cell.
    this.#delivery.catch(() => undefined);
  }

  async #deadCell(exit: JobExit, onOutput: ExecuteOptions["onOutput"]): Promise<ProviderCell> {
    const died = exit.oom ? "oom" : this.#killed ? "killed" : "crashed";
    if (exit.crash !== undefined) {
      const name = interpreterNames[this.#kind.interpreter];
      await onOutput("stderr", Buffer.from(`Fatal ${name} error: ${exit.crash}\n`));
    }
    return { exitCode: null, outputs: [], died };
  }
}
