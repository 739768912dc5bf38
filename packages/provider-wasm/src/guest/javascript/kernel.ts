import { bundle, rawBundle } from "javascript-kernel/display.cjs";
import { jsonText } from "javascript-kernel/json-text.cjs";
import { describe, type Failure } from "./failures.js";
import { call, host, isFull, print, withHeadroom } from "./host.js";
import type { Modules } from "./modules.js";
import { cwd } from "./path.js";
import type { Driver } from "./program.js";
import type { Requests } from "./requests.js";
import type { Timers } from "./timers.js";

interface Outcome {
  readonly exitCode?: number;
  readonly value?: string | undefined;
  readonly error?: Failure;
}

interface Cell {
  readonly name: string;
  readonly code: string;
  outcome?: Outcome;
}

/** Of what a cell displays, in characters of JSON. */
const longestOutputs = 16_000_000;
/** Longer than any timer: the broker then waits without an end. */
const endless = 1e12;
/** How often news of requests are looked for between cells. */
const lookMs = 20;
const interruption: Failure = {
  name: "InterruptedError",
  message: "the cell was interrupted: what was defined so far is kept",
  traceback: "InterruptedError: the cell was interrupted: what was defined so far is kept\n",
};
/** The engine throws null where there is no memory left for an error. */
const outOfMemory: Failure = {
  name: "InternalError",
  message: "out of memory",
  traceback: "InternalError: out of memory\n",
};
const { parse, stringify } = JSON;

/** One interpreter state, and the cells that the broker has it run. */
export class Kernel implements Driver {
  readonly #timers: Timers;
  readonly #requests: Requests;
  readonly #modules: Modules;
  readonly #outputs: string[] = [];
  #left = longestOutputs;
  #count = 0;
  #cell: Cell | undefined;
  /** Whether the last cell has left all memory taken. */
  #full = false;
  exitCode: unknown;

  constructor(timers: Timers, requests: Requests, modules: Modules) {
    this.#timers = timers;
    this.#requests = requests;
    this.#modules = modules;
    const value = (shown: unknown, options?: { raw?: boolean }) =>
      this.#show(options?.raw ? rawBundle(shown) : bundle(shown));
    Object.defineProperty(globalThis, "display", { configurable: true, writable: true, value });
  }

  /** What the worker has it do again and again: one step of a cell, of a timer, or of waiting for them. */
  turn(jobsWait: boolean): void {
    const signal = host().takeSignal();
    const cell = this.#cell;
    if (!cell) {
      this.#idle(jobsWait);
      return;
    }
    if (signal !== 0) {
      cell.outcome = { error: interruption };
      this.#requests.closeAll(new Error(interruption.message));
    }
    if (cell.outcome) {
      this.#end(cell.outcome);
      return;
    }
    const delay = jobsWait ? 0 : (this.#timers.delay ?? endless);
    if (this.#requests.pending) this.#requests.wait(delay);
    else if (delay > 0) host().sleep(delay);
    this.#runTimer();
  }

  /** `process.exit` ends the cell and keeps the state; between cells, what calls it. */
  exit(code: number): void {
    if (this.#cell) this.#cell.outcome ??= { exitCode: code };
    host().abort();
    // Never goes on from here, past all `catch` and `finally`.
    for (;;);
  }

  /** Stray errors are shown, and the kernel lives on. */
  uncaught(error: unknown): void {
    print(2, describe(error).traceback);
  }

  #idle(jobsWait: boolean): void {
    const delay = jobsWait ? 0 : (this.#timers.delay ?? endless);
    const { pending } = this.#requests;
    // There is one wait at a time: while requests of an earlier cell go on, they are looked at between two.
    const next = call<string | null>("cell", Math.ceil(pending ? Math.min(delay, lookMs) : delay));
    if (next === null && pending) this.#requests.wait(0);
    if (next === null) this.#runTimer();
    else this.#start(parse(next) as { code: string; hasValue: boolean });
  }

  #runTimer(): void {
    const run = this.#timers.take();
    if (!run) return;
    host().arm(true);
    try {
      run();
    } catch (error) {
      this.uncaught(error);
    } finally {
      host().arm(false);
    }
  }

  #start({ code, hasValue }: { readonly code: string; readonly hasValue: boolean }): void {
    this.#count += 1;
    const cell: Cell = { name: `cell-${this.#count}`, code };
    this.#cell = cell;
    this.#modules.follow(cwd());
    host().arm(true);
    void this.#run(cell, hasValue);
    host().arm(false);
  }

  /** Waits by `await` alone: what the user makes of the methods of promises does not matter to it. */
  async #run(cell: Cell, hasValue: boolean): Promise<void> {
    try {
      let { value } = await host().evaluate(stringify(cell.code), cell.name);
      if (hasValue && host().promiseState(value) !== "none") value = await value;
      cell.outcome ??= hasValue ? this.#outcomeOf(value) : {};
    } catch (error) {
      cell.outcome ??= { error: error === null && isFull() ? outOfMemory : withHeadroom(() => describe(error, cell)) };
    }
  }

  /** Shows a value. Its own code may do anything in this, also end the cell. */
  #outcomeOf(value: unknown): Outcome {
    if (value === undefined) return {};
    const json = jsonText(value);
    this.#show(bundle(value, json));
    return { value: json };
  }

  #end({ exitCode, value, error }: Outcome): void {
    this.#checkMemory(error);
    const wanted = Number.isInteger(this.exitCode) ? Number(this.exitCode) & 0xff : 0;
    this.exitCode = undefined;
    const fields = [
      `"exitCode":${exitCode ?? (error ? 1 : wanted)}`,
      `"outputs":[${this.#outputs.splice(0).join(",")}]`,
    ];
    if (value !== undefined) fields.push(`"value":${stringify(value)}`);
    if (error) fields.push(`"error":${stringify(error)}`);
    this.#left = longestOutputs;
    this.#cell = undefined;
    host().call("done", `[{${fields.join(",")}}]`);
  }

  /** What has taken all memory can be freed by the cells that follow. One that wants still more ends the interpreter. */
  #checkMemory(error: Failure | undefined): void {
    const full = isFull();
    if (full && this.#full && error?.message === outOfMemory.message) call("exit", "OOM");
    this.#full = full;
  }

  /** Kept until the cell ends; what comes between cells goes with the next one. */
  #show(forms: string): void {
    if (forms.length > this.#left) {
      print(2, `display: an output is left out: ${longestOutputs} characters are the most\n`);
      return;
    }
    this.#left -= forms.length;
    this.#outputs.push(forms);
  }
}
