import { webcrypto } from "node:crypto";
import release from "@jitl/quickjs-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
  type VmFunctionImplementation,
} from "quickjs-emscripten-core";
import type { WorkerEnd } from "../link.js";

/** What the engine needs of its worker. */
export interface EngineHost extends Pick<WorkerEnd, "call"> {
  write(stream: number, bytes: Uint8Array): boolean;
  sleep(ms: number): void;
  pendingSignal(): number;
  takeSignal(): number;
}

type HostFunction = VmFunctionImplementation<QuickJSHandle>;

const mebibyte = 1024 * 1024;
const pagesPerMiB = 16;
/** Its declarations are those of its CommonJS; what the build takes is the ES module. */
const variant = release as unknown as QuickJSSyncVariant;

/** What the module takes before it has run anything. */
const initialMiB = 16;
/** Room above what the guest may take, for texts on their way in: the module does not look whether it got memory. */
const spareMiB = 24;
/** Of the stack of the module. V8's own, which grows with it, must be the larger one. */
const stackBytes = 768 * 1024;
/** A script of the global scope that may await; its value comes in an object. */
const asyncScript = 1 << 7;
const driverName = "sandkit:javascript";
const jobsPerTurn = 500;
/** After a signal so many more run until one is ended by it: a loop of awaits can be many. */
const jobsPerInterrupt = 20_000;

/** Instantiates QuickJS with its memory capped. */
export function openQuickJs(module: WebAssembly.Module, memoryMiB: number): Promise<QuickJSWASMModule> {
  const memory = new WebAssembly.Memory({ initial: initialMiB * pagesPerMiB, maximum: memoryMiB * pagesPerMiB });
  return newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule: module, wasmMemory: memory }));
}

/** One interpreter with its driver. It is never used after an error of its own, and never freed: its worker ends. */
export class Engine {
  readonly #context: QuickJSContext;
  readonly #host: EngineHost;
  readonly #guest: QuickJSHandle;
  /** Whether code of the user runs, which a signal may end. */
  #armed = false;
  /** Whether signals end code at all: in a program they wait for its own handlers. */
  #interruptible = false;
  #aborting = false;
  #interrupted = false;

  constructor(quickJs: QuickJSWASMModule, memoryMiB: number, driver: string, host: EngineHost) {
    this.#host = host;
    this.#context = quickJs.newContext();
    const { runtime } = this.#context;
    runtime.setMemoryLimit((memoryMiB - spareMiB) * mebibyte);
    runtime.setMaxStackSize(stackBytes);
    runtime.setInterruptHandler(() => this.#interrupts());
    const enter = this.#context.unwrapResult(this.#context.evalCode(driver, driverName, 0));
    this.#guest = this.#context.unwrapResult(
      this.#context.callFunction(enter, this.#context.undefined, this.#hostObject()),
    );
    const ask = (name: string, ...texts: string[]) => this.#ask(name, texts);
    runtime.setModuleLoader(
      (name) => ask("source", name),
      (base, specifier) => {
        const found = ask("resolve", base, specifier);
        if (typeof found === "string") return found;
        found.error.dispose();
        throw new Error("the driver could not resolve a module");
      },
    );
  }

  /** Runs the job to the end of the worker. */
  run(): never {
    const turn = this.#context.getProp(this.#guest, "turn");
    for (;;) {
      this.#armed = false;
      const waiting = this.#context.runtime.hasPendingJob() ? this.#context.true : this.#context.false;
      const result = this.#context.callFunction(turn, this.#guest, waiting);
      if (result.error) this.#giveUp(result.error);
      else result.value.dispose();
      this.#runJobs();
    }
  }

  #runJobs(): void {
    const { runtime } = this.#context;
    this.#armed = this.#interruptible;
    this.#interrupted = false;
    for (let count = 0; runtime.hasPendingJob() && !this.#interrupted; count += jobsPerTurn) {
      const ending = this.#interruptible && this.#host.pendingSignal() !== 0;
      const most = ending ? jobsPerInterrupt : jobsPerTurn;
      if (count >= most) break;
      const result = runtime.executePendingJobs(jobsPerTurn);
      if (result.error) result.error.dispose();
    }
  }

  #interrupts(): boolean {
    if (!this.#armed || !(this.#aborting || this.#host.pendingSignal() !== 0)) return false;
    this.#aborting = false;
    this.#interrupted = true;
    return true;
  }

  /** An interrupt ends a turn as any other code; everything else is an end of the driver. */
  #giveUp(error: QuickJSHandle): void {
    if (this.#interrupted) {
      this.#interrupted = false;
      error.dispose();
      return;
    }
    const message = this.#context.getProp(error, "message").consume((text) => this.#context.getString(text));
    throw new Error(message.slice(0, 400));
  }

  #ask(name: string, texts: readonly string[]): string | { error: QuickJSHandle } {
    const context = this.#context;
    const args = texts.map((text) => context.newString(text));
    const result = context
      .getProp(this.#guest, name)
      .consume((method) => context.callFunction(method, this.#guest, args));
    for (const arg of args) arg.dispose();
    if (result.error) return { error: result.error };
    return result.value.consume((value) => context.getString(value));
  }

  #hostObject(): QuickJSHandle {
    const object = this.#context.newObject(this.#context.null);
    for (const [name, run] of Object.entries(this.#functions())) {
      this.#context.newFunction(name, run).consume((handle) => this.#context.setProp(object, name, handle));
    }
    return object;
  }

  /** All that leads out. Values come and go as primitives and copies of bytes. */
  #functions(): Record<string, HostFunction> {
    const context = this.#context;
    const host = this.#host;
    const text = (handle: QuickJSHandle | undefined) => (handle ? context.getString(handle) : "");
    const number = (handle: QuickJSHandle | undefined) => (handle ? context.getNumber(handle) : 0);
    const parsed = (handle: QuickJSHandle | undefined) => String(JSON.parse(text(handle)));
    const boolean = (value: boolean) => (value ? context.true : context.false);
    const bytes = (
      buffer: QuickJSHandle | undefined,
      offset: QuickJSHandle | undefined,
      length: QuickJSHandle | undefined,
    ) => {
      if (!buffer) throw new Error("there are no bytes");
      return context
        .getArrayBuffer(buffer)
        .consume(({ value: whole }) => whole.slice(number(offset), number(offset) + number(length)));
    };
    return {
      call: (operation, args) => context.newString(host.call(text(operation), text(args), null, false)),
      receive: (operation, args, length) => {
        const target = new Uint8Array(Math.max(0, Math.min(number(length), mebibyte)));
        const reply = host.call(text(operation), text(args), target, false);
        const count = countOf(reply);
        return count === undefined ? context.newString(reply) : context.newArrayBuffer(target.slice(0, count).buffer);
      },
      send: (operation, args, buffer, offset, length) =>
        context.newString(host.call(text(operation), text(args), bytes(buffer, offset, length), true)),
      print: (stream, json) => boolean(host.write(number(stream), Buffer.from(parsed(json)))),
      printBytes: (stream, buffer, offset, length) =>
        boolean(host.write(number(stream), bytes(buffer, offset, length))),
      encode: (json) => context.newArrayBuffer(new TextEncoder().encode(parsed(json)).buffer),
      decode: (encoding, buffer, offset, length, fatal) =>
        context.newString(decoded(text(encoding), bytes(buffer, offset, length), number(fatal) !== 0)),
      evaluate: (json, name) => context.evalCode(parsed(json), text(name), asyncScript),
      compile: (json, name) => context.evalCode(parsed(json), text(name), 0),
      promiseState: (value) => {
        const state = context.getPromiseState(value ?? context.undefined);
        const name = state.type === "fulfilled" && state.notAPromise ? "none" : state.type;
        if (state.type === "fulfilled" && !state.notAPromise) state.value.dispose();
        if (state.type === "rejected") state.error.dispose();
        return context.newString(name);
      },
      promiseResult: (promise) => {
        const state = context.getPromiseState(promise ?? context.undefined);
        if (state.type === "pending") return context.undefined;
        return state.type === "fulfilled" ? state.value : state.error;
      },
      now: () => context.newNumber(performance.now()),
      sleep: (ms) => {
        host.sleep(number(ms));
      },
      random: (length) => {
        const random = new Uint8Array(Math.max(0, Math.min(number(length), mebibyte)));
        for (let start = 0; start < random.length; start += 65_536) {
          webcrypto.getRandomValues(random.subarray(start, start + 65_536));
        }
        return context.newArrayBuffer(random.buffer);
      },
      arm: (on) => {
        this.#armed = number(on) !== 0;
        this.#interruptible = true;
      },
      abort: () => {
        this.#armed = true;
        this.#aborting = true;
      },
      pendingSignal: () => context.newNumber(host.pendingSignal()),
      takeSignal: () => context.newNumber(host.takeSignal()),
    };
  }
}

/** How many bytes a reply of the broker brings; undefined when it tells of a failure. */
function countOf(reply: string): number | undefined {
  const parsed = JSON.parse(reply) as number | { readonly result?: number } | null;
  const count = typeof parsed === "object" ? parsed?.result : parsed;
  return typeof count === "number" && count >= 0 ? count : undefined;
}

function decoded(encoding: string, bytes: Uint8Array, fatal: boolean): string {
  try {
    return JSON.stringify(new TextDecoder(encoding, { fatal }).decode(bytes));
  } catch (error) {
    if (error instanceof TypeError) return "";
    throw error;
  }
}
