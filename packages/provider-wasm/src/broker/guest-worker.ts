import { Worker } from "node:worker_threads";
import { BrokerEnd, type LinkRequest } from "../link.js";
import type { ScriptCaches } from "../worker/realm-host.js";
import type { WorkerAssets } from "../worker/worker.js";
import type { WorkerMessage } from "../worker/worker-message.js";
import type { SharedAssets } from "./assets.js";

/** Who is told what a worker does. */
export interface WorkerOwner {
  /** A blocking call of the guest; it waits until `link.reply`. */
  call(request: LinkRequest): void;
  /** Output waits in the ring. */
  output(): void;
  /** The thread is gone. */
  gone(end: WorkerEnd): void;
}

/** Why a worker's thread ended, as far as the thread itself tells. */
export interface WorkerEnd {
  readonly oom: boolean;
  readonly error?: string | undefined;
}

/**
 * Far above what a program takes: V8 ends the whole process where a single allocation goes past the end of a heap,
 * and one can be a gigabyte. Long before it the watch on the process's memory ends the worker.
 */
const limits = { maxOldGenerationSizeMb: 4096, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

/** One thread with one interpreter. Until it has an owner it waits for its job; only a shell's is used for a second. */
export class GuestWorker {
  readonly link = new BrokerEnd();
  readonly #worker: Worker;
  #owner: WorkerOwner | undefined;
  #end: WorkerEnd | undefined;
  #error: { oom: boolean; error: string } | undefined;
  /** The call by which it asks for its job, while it has none. */
  #waiting: LinkRequest | undefined;
  #signals: Int32Array | undefined;
  /** Resolves when the interpreter has asked for its job, or the thread has ended. */
  readonly settled: Promise<void>;
  #settle: () => void = () => undefined;

  #onCaches: ((caches: ScriptCaches) => void) | undefined;

  /** @param start What the script takes as its data, beside the link; a worker of Python waits to be supplied. */
  constructor(script: string, start: object = {}, stackSizeMb = limits.stackSizeMb) {
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#worker = new Worker(script, {
      workerData: { ...start, link: this.link.memory },
      env: {},
      execArgv: [],
      argv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { ...limits, stackSizeMb },
    });
    // Nothing of a worker's own stdout and stderr is for the user: the guest's output comes by the ring.
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.on("message", (message: WorkerMessage) => this.#receive(message));
    this.#worker.on("error", (error: Error & { code?: string }) => {
      this.#error = { oom: error.code === "ERR_WORKER_OUT_OF_MEMORY", error: error.message };
    });
    this.#worker.on("exit", () => {
      this.#end = this.#error ?? { oom: false };
      this.#settle();
      this.#owner?.gone(this.#end);
    });
  }

  /** Gives the thread what its interpreter is made from. Once. */
  supply(assets: SharedAssets, caches: ScriptCaches, onCaches?: (caches: ScriptCaches) => void): void {
    this.#onCaches = onCaches;
    this.#worker.postMessage({ ...assets, caches, wantCaches: onCaches !== undefined } satisfies WorkerAssets);
  }

  /** Gives the worker its owner, who gets the calls from here on, beginning with the one for the job. */
  assign(owner: WorkerOwner): void {
    this.#owner = owner;
    if (this.#end) owner.gone(this.#end);
    else if (this.#waiting) owner.call(this.#waiting);
    this.#waiting = undefined;
  }

  /** Takes it from its owner, whose job is done: it may ask for the next. */
  release(): void {
    this.#owner = undefined;
    this.link.reply(null);
  }

  /** True once the thread has ended. */
  get ended(): boolean {
    return this.#end !== undefined;
  }

  /** True when the interpreter runs, so that signals reach it. */
  get listening(): boolean {
    return this.#signals !== undefined;
  }

  /** Stores a signal for the interpreter and ends its sleep. */
  signal(number: number): void {
    if (!this.#signals) return;
    Atomics.store(this.#signals, 0, number);
    Atomics.notify(this.#signals, 0);
    this.link.interrupt();
  }

  /** True while the interpreter has not seen a signal. */
  get signalPending(): boolean {
    return this.#signals !== undefined && Atomics.load(this.#signals, 0) !== 0;
  }

  /** Takes a signal back that has not been seen. */
  clearSignal(): void {
    if (this.#signals) Atomics.store(this.#signals, 0, 0);
  }

  terminate(): void {
    void this.#worker.terminate();
  }

  #receive(message: WorkerMessage): void {
    if (this.#end) return;
    try {
      if (message === "output") this.#owner?.output();
      else if (message === "call") this.#take();
      else if ("signals" in message) this.#signals = new Int32Array(message.signals);
      else if ("caches" in message) this.#onCaches?.(message.caches);
    } catch (error) {
      this.#error = { oom: false, error: error instanceof Error ? error.message : String(error) };
      this.terminate();
    }
  }

  #take(): void {
    const request = this.link.receive();
    if (!request) return;
    if (this.#owner) this.#owner.call(request);
    else this.#waiting = request;
    this.#settle();
  }
}
