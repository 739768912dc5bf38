import { describe } from "./failures.js";
import { readFileSync } from "./fs.js";
import { call, host, print, withHeadroom } from "./host.js";
import type { Modules } from "./modules.js";
import { resolve } from "./path.js";
import type { Requests } from "./requests.js";
import type { Timers } from "./timers.js";

/** What runs an interpreter: cells, or one program. */
export interface Driver {
  exitCode: unknown;
  /** One step, after which the worker runs the promises that wait. */
  turn(jobsWait: boolean): void;
  exit(code: number): void;
  /** Takes an error that nothing has caught. */
  uncaught(error: unknown): void;
}

/** What a program does at its end and at errors, which it may have replaced. */
export interface Listeners {
  /** True when the program has a handler of its own, which has run. */
  emit(event: string, ...args: unknown[]): boolean;
}

const usage = "usage: node [options] [script.js | -e code | -p code | -] [arguments]";
const harmless = new Set(["--no-warnings", "--trace-warnings", "--enable-source-maps", "--trace-uncaught", "--"]);

/** Longer than any timer. */
const endless = 1e12;

/** What a command line asks for. */
export interface CommandLine {
  readonly kind: "file" | "code" | "input" | "print" | "version" | "help" | "wrong";
  /** The file, the code, or what is wrong. */
  readonly text: string;
  /** Whether code without a file is an ES module; where nothing is said, that is found out. */
  readonly isModule?: boolean | undefined;
  readonly rest: readonly string[];
}

/** Reads the arguments of `node`. Options that cannot be honoured are refused. */
export function readCommandLine(given: readonly string[]): CommandLine {
  const args = [...given];
  let isModule: boolean | undefined;
  for (let first = args.shift(); first !== undefined; first = args.shift()) {
    if (first === "-" || first === "") return { kind: "input", text: "", rest: args, isModule };
    if (!first.startsWith("-")) return { kind: "file", text: first, rest: args };
    if (["-v", "--version"].includes(first)) return { kind: "version", text: "", rest: [] };
    if (["-h", "--help"].includes(first)) return { kind: "help", text: "", rest: [] };
    if (["-e", "--eval", "-p", "--print", "-pe"].includes(first)) {
      const code = args.shift();
      if (code === undefined) return { kind: "wrong", text: `${first} requires an argument`, rest: [] };
      const rest = args[0] === "--" ? args.slice(1) : args;
      return { kind: first.includes("p") ? "print" : "code", text: code, rest, isModule };
    }
    const input = /^--input-type=(commonjs|module)$/.exec(first)?.[1];
    if (input !== undefined) isModule = input === "module";
    else if (!harmless.has(first)) return { kind: "wrong", text: `bad option: ${first}`, rest: [] };
  }
  return { kind: "input", text: "", rest: [], isModule };
}

/** One program from its start to its end. */
export class Program implements Driver {
  readonly #timers: Timers;
  readonly #requests: Requests;
  readonly #modules: Modules;
  readonly #line: CommandLine;
  readonly #listeners: () => Listeners;
  exitCode: unknown;
  #begun = false;
  #leaving = false;
  #ending = false;

  constructor(line: CommandLine, timers: Timers, requests: Requests, modules: Modules, listeners: () => Listeners) {
    this.#line = line;
    this.#timers = timers;
    this.#requests = requests;
    this.#modules = modules;
    this.#listeners = listeners;
  }

  turn(jobsWait: boolean): void {
    if (!this.#begun) {
      this.#begun = true;
      this.#guard(() => this.#begin());
      return;
    }
    const signal = host().takeSignal();
    if (signal !== 0) this.#guard(() => this.#listeners().emit("signal", signal));
    else if (!jobsWait) this.#wait();
    else {
      if (this.#requests.pending) this.#requests.wait(0);
      this.#runTimer();
    }
  }

  exit(code: number): void {
    if (!this.#ending) {
      this.#ending = true;
      this.exitCode = code;
      this.#listeners().emit("exit", code);
    }
    call("exit", Number(this.exitCode) & 0xff);
  }

  uncaught(error: unknown): void {
    if (this.#listeners().emit("uncaughtException", error, "uncaughtException")) return;
    print(2, `${withHeadroom(() => describe(error).traceback)}\n`);
    this.exit(1);
  }

  #begin(): void {
    const { kind, text, isModule } = this.#line;
    if (kind === "version") print(1, `${globalThis.process.version}\n`);
    else if (kind === "help") print(1, `${usage}\n`);
    else if (kind === "wrong") {
      print(2, `node: ${text}: this is QuickJS, which takes few of Node's options\n${usage}\n`);
      this.exit(9);
    } else if (kind === "file") this.#track(this.#modules.runMain(resolve(text)));
    else {
      const code = kind === "input" ? String(readFileSync(0, "utf8")) : text;
      const value = this.#modules.runCode(code, kind === "input" ? "[stdin]" : "[eval]", isModule);
      this.#track(value);
      if (kind === "print") globalThis.console.log(value);
    }
  }

  /** The promise of a main module, or what the last statement of the code gave: nobody else looks at it. */
  #track(value: unknown): void {
    if (host().promiseState(value) === "none") return;
    (value as Promise<unknown>).then(undefined, (error) => this.#guard(() => this.uncaught(error)));
  }

  #wait(): void {
    const delay = this.#timers.delay;
    if (this.#requests.pending) {
      this.#requests.wait(delay ?? endless);
      this.#leaving = false;
      this.#runTimer();
    } else if (delay === undefined || !this.#timers.referenced) {
      // Once for each time that nothing is left to do: its listeners may have found more.
      if (this.#leaving) this.exit(this.#code());
      else this.#listeners().emit("beforeExit", this.#code());
      this.#leaving = true;
    } else {
      if (delay > 0) host().sleep(delay);
      this.#runTimer();
    }
  }

  #code(): number {
    return Number(this.exitCode ?? 0) & 0xff;
  }

  #runTimer(): void {
    const run = this.#timers.take();
    if (!run) return;
    this.#leaving = false;
    this.#guard(() => this.#track(run()));
  }

  #guard(action: () => unknown): void {
    try {
      action();
    } catch (error) {
      this.uncaught(error);
    }
  }
}
