import release from "@jitl/quickjs-wasmfile-release-sync";
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSEmscriptenModule,
  type QuickJSHandle,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from "quickjs-emscripten-core";
import type { JavaScriptSnapshotInfo } from "../snapshot/javascript.js";
import { readPages } from "../snapshot/pages.js";
import { type EngineHost, type HostFunction, hostFunctions, Refusal } from "./engine-host.js";

const mebibyte = 1024 * 1024;
const pagesPerMiB = 16;
/** Its declarations are those of its CommonJS; what the build takes is the ES module. */
const variant = release as unknown as QuickJSSyncVariant;

/** What the module takes before it has run anything. */
const initialMiB = 16;
/**
 * Of the memory, what the guest does not get, so that the driver can tell of an error when all else is taken. A block
 * that is held and let go: the engine's own limit counts allocations, and not what they take.
 */
const heldBackMiB = 8;
/** Who has less than this left meets the end of memory anywhere. */
const leastRoom = mebibyte;
/** Of the module's 5 MiB of stack. V8's own, which grows with it, must be the larger one: see `stackSizeMb`. */
const stackBytes = 768 * 1024;
const driverName = "sandkit:javascript";
const jobsPerTurn = 500;
/** After a signal so many more run until one is ended by it: a loop of awaits can be many. */
const jobsPerInterrupt = 20_000;

/** QuickJS, instantiated. */
export interface QuickJs {
  readonly module: QuickJSWASMModule;
  readonly memory: WebAssembly.Memory;
  readonly allocator: Allocator;
  hasRoom(bytes: number): boolean;
}

/** The module's own; 0 is no place. */
interface Allocator {
  allocate(bytes: number): number;
  free(place: number): void;
}

/** The guest is told of it, as of any other end of its memory. */
class OutOfMemory extends Refusal {}

/** Instantiates QuickJS with its memory capped. */
export async function openQuickJs(wasmModule: WebAssembly.Module, memoryMiB: number): Promise<QuickJs> {
  // The module keeps the name of its program and the user's language, and all memory after them is where they end.
  process.argv.splice(1);
  Reflect.deleteProperty(globalThis, "navigator");
  const memory = new WebAssembly.Memory({ initial: initialMiB * pagesPerMiB, maximum: memoryMiB * pagesPerMiB });
  let allocator: Allocator | undefined;
  const checked: QuickJSSyncVariant = {
    ...variant,
    importModuleLoader: async () => {
      const load = unwrapped(await variant.importModuleLoader());
      return async (options) => {
        const module = await load(options);
        allocator = checkAllocations(module);
        return module;
      };
    },
  };
  const module = await newQuickJSWASMModuleFromVariant(newVariant(checked, { wasmModule, wasmMemory: memory }));
  if (!allocator) throw new Error("the module has no allocator");
  const { allocate, free } = allocator;
  const hasRoom = (bytes: number) => {
    const place = allocate(bytes);
    if (place !== 0) free(place);
    return place !== 0;
  };
  return { module, memory, allocator, hasRoom };
}

/** The library writes to what it has been given without a look at whether it has been given anything. */
function checkAllocations(module: Pick<QuickJSEmscriptenModule, "_malloc" | "_free">): Allocator {
  const { _malloc: allocate, _free: free } = module;
  module._malloc = (bytes) => {
    const place = allocate(bytes);
    if (place === 0) throw new OutOfMemory("out of memory");
    return place;
  };
  return { allocate, free };
}

type Wrapped<Value> = Value | { readonly default: Wrapped<Value> };

function unwrapped<Value>(found: Wrapped<Value>): Value {
  return typeof found === "object" && found !== null && "default" in found
    ? unwrapped(found.default)
    : (found as Value);
}

/** One interpreter with its driver. It is never used after an error of its own, and never freed: its worker ends. */
export class Engine {
  readonly #quickJs: QuickJs;
  readonly #context: QuickJSContext;
  readonly #host: EngineHost;
  /** Where the driver and its ways out are kept. */
  readonly #slots: QuickJSHandle;
  /** What the driver has given to be called. */
  #guest: QuickJSHandle | undefined;
  /** Where the memory is that is held back, or 0. */
  #heldBack = 0;
  /** Whether code of the user runs, which a signal may end. */
  #armed = false;
  /** Whether signals end code at all: in a program they wait for its own handlers. */
  #interruptible = false;
  #aborting = false;
  #interrupted = false;
  /** What the engine itself has failed with. */
  #failure: unknown;

  /**
   * Makes an interpreter that is still without its driver. What this does to the memory is always the same, so that a
   * memory saved from one fits every other.
   */
  constructor(quickJs: QuickJs, host: EngineHost) {
    this.#host = host;
    this.#quickJs = quickJs;
    this.#context = quickJs.module.newContext();
    const { runtime } = this.#context;
    runtime.setMaxStackSize(stackBytes);
    runtime.setInterruptHandler(() => this.#interrupts());
    runtime.setModuleLoader(
      (name) => this.#ask("source", [name]),
      (base, specifier) => this.#resolve(base, specifier),
    );
    this.#slots = this.#context.newObject(this.#context.null);
    this.#hostObject().consume((handle) => this.#context.setProp(this.#slots, "host", handle));
  }

  /** Evaluates the driver. */
  load(driver: string): void {
    const context = this.#context;
    const enter = context.unwrapResult(context.evalCode(driver, driverName, 0));
    enter.consume((handle) => context.setProp(this.#slots, "enter", handle));
  }

  /** The memory as it is, and where in it the driver is kept. */
  save(): { readonly memory: Uint8Array; readonly place: number } {
    return { memory: new Uint8Array(this.#quickJs.memory.buffer), place: this.#slots.value };
  }

  /** Puts a saved memory in the place of its own. False, with nothing done, where it does not fit. */
  restore(saved: JavaScriptSnapshotInfo, pages: number): boolean {
    const { memory, place } = this.save();
    if (memory.length !== saved.size || place !== saved.place) return false;
    readPages(memory, saved, pages);
    return true;
  }

  /** Lets the guest have so much of what is held back. False where the rest cannot be held, or nothing is left beside. */
  #holdBack(headroomMiB: number): boolean {
    const { allocator } = this.#quickJs;
    const bytes = (heldBackMiB - Math.min(headroomMiB, heldBackMiB)) * mebibyte;
    if (this.#heldBack !== 0) allocator.free(this.#heldBack);
    this.#heldBack = bytes === 0 ? 0 : allocator.allocate(bytes);
    return (bytes === 0 || this.#heldBack !== 0) && this.#quickJs.hasRoom(leastRoom);
  }

  /** Runs the job to the end of the worker. @throws what the engine itself has failed with */
  run(): never {
    const context = this.#context;
    this.#holdBack(0);
    const enter = context.getProp(this.#slots, "enter");
    const ways = context.getProp(this.#slots, "host");
    const guest = context.unwrapResult(context.callFunction(enter, context.undefined, ways));
    this.#guest = guest;
    const turn = context.getProp(guest, "turn");
    for (;;) {
      this.#armed = false;
      const waiting = context.runtime.hasPendingJob() ? context.true : context.false;
      const result = context.callFunction(turn, guest, waiting);
      if (result.error) this.#giveUp(result.error);
      else result.value.dispose();
      if (this.#failure === undefined) this.#runJobs();
      if (this.#failure !== undefined) throw this.#failure;
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
    if (this.#failure !== undefined) return true;
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
    const guest = this.#guest;
    if (!guest) throw new Error("there is no driver to ask");
    const args = texts.map((text) => context.newString(text));
    const result = context.getProp(guest, name).consume((method) => context.callFunction(method, guest, args));
    for (const arg of args) arg.dispose();
    if (result.error) return { error: result.error };
    return result.value.consume((value) => context.getString(value));
  }

  #resolve(base: string, specifier: string): string {
    const found = this.#ask("resolve", [base, specifier]);
    if (typeof found === "string") return found;
    found.error.dispose();
    throw new Error("the driver could not resolve a module");
  }

  #hostObject(): QuickJSHandle {
    const object = this.#context.newObject(this.#context.null);
    const functions = hostFunctions(this.#context, this.#host, {
      arm: (on) => {
        this.#armed = on;
        this.#interruptible = true;
      },
      abort: () => {
        this.#armed = true;
        this.#aborting = true;
      },
      headroom: (mebibytes) => this.#holdBack(mebibytes),
      reserve: (bytes) => {
        if (!this.#quickJs.hasRoom(bytes)) throw new OutOfMemory("out of memory");
      },
    });
    for (const [name, run] of Object.entries(functions)) {
      this.#context
        .newFunction(name, this.#guarded(run))
        .consume((handle) => this.#context.setProp(object, name, handle));
    }
    return object;
  }

  /** An error that has come through the module's own frames leaves it damaged: nothing may run in it any more. */
  #guarded(run: HostFunction): HostFunction {
    const engine = this;
    return function (...args) {
      try {
        return run.apply(this, args);
      } catch (error) {
        if (!(error instanceof Refusal)) engine.#failure ??= error;
        if (error instanceof OutOfMemory) engine.#holdBack(heldBackMiB);
        throw error;
      }
    };
  }
}
