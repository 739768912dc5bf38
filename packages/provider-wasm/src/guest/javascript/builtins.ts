import { assert } from "./assert.js";
import { Buffer } from "./buffer.js";
import { EventEmitter } from "./events.js";
import * as fs from "./fs.js";
import type { Modules } from "./modules.js";
import { net } from "./net.js";
import * as path from "./path.js";
import type { Process } from "./process.js";
import { createInterface } from "./readline.js";
import { functionsOf, type Timers } from "./timers.js";
import { fileUrl, fileUrlPath } from "./url.js";
import * as util from "./util.js";

type AnyFunction = (...args: unknown[]) => unknown;

/** The modules that the interpreter brings along, by their names without `node:`. Each is made when it is first asked for. */
export function createBuiltins(
  process: () => Process,
  timers: Timers,
  modules: () => Modules,
): ReadonlyMap<string, () => unknown> {
  const posix = { ...path, posix: undefined as unknown };
  posix.posix = posix;
  const wait = (ms?: number, value?: unknown) => new Promise((done) => timers.setTimeout(() => done(value), ms));
  const promises = once(() => promisesOf(fs as unknown as Record<string, unknown>));
  const factories: Record<string, () => unknown> = {
    assert: () => assert,
    "assert/strict": () => assert,
    buffer: () => ({ Buffer, kMaxLength: 2 ** 31 }),
    events: () => Object.assign(EventEmitter, { default: EventEmitter }),
    fs: () => ({ ...withCallbacks(fs as unknown as Record<string, unknown>, timers), promises: promises() }),
    "fs/promises": () => promises(),
    module: () => ({
      createRequire: (from: string) => modules().requireOf(from.startsWith("file:") ? fileUrlPath(from) : from),
      builtinModules: Object.keys(factories),
    }),
    net: () => net,
    os: () => ({
      EOL: "\n",
      arch: () => "wasm32",
      platform: () => "linux",
      type: () => "Linux",
      release: () => "",
      hostname: () => "sandbox",
      homedir: () => process().env.HOME ?? "/",
      tmpdir: () => process().env.TMPDIR ?? "/tmp",
      cpus: () => [],
      endianness: () => "LE",
    }),
    path: () => posix,
    "path/posix": () => posix,
    perf_hooks: () => ({ performance: globalThis.performance }),
    process: () => process(),
    readline: () => ({ createInterface }),
    "readline/promises": () => ({ createInterface }),
    timers: () => functionsOf(timers),
    "timers/promises": () => ({
      setTimeout: wait,
      setImmediate: (value?: unknown) => new Promise((done) => timers.setImmediate(() => done(value))),
    }),
    url: () => ({
      URL: globalThis.URL,
      URLSearchParams: globalThis.URLSearchParams,
      fileURLToPath: fileUrlPath,
      pathToFileURL: (file: string) => new globalThis.URL(fileUrl(path.resolve(file))),
    }),
    util: () => ({ ...util, TextDecoder: globalThis.TextDecoder, TextEncoder: globalThis.TextEncoder }),
  };
  return new Map(Object.entries(factories).map(([name, make]) => [name, once(make)]));
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Each function that ends in `Sync`, also in the form that takes a callback. */
function withCallbacks(whole: Record<string, unknown>, timers: Timers): Record<string, unknown> {
  const forms: [string, AnyFunction][] = syncFunctions(whole).map(([name, run]) => [
    name,
    (...args) => {
      const done = args.pop();
      if (typeof done !== "function") throw new TypeError('The "cb" argument must be of type function');
      const settle = attempt(run, args);
      timers.setImmediate(() => ("error" in settle ? done(settle.error) : done(null, settle.value)));
    },
  ]);
  const exists = (file: string, done: (there: boolean) => void) => timers.setImmediate(() => done(fs.existsSync(file)));
  return { ...whole, ...Object.fromEntries(forms), exists };
}

function promisesOf(whole: Record<string, unknown>): Record<string, unknown> {
  const forms = syncFunctions(whole).map(([name, run]) => [name, async (...args: unknown[]) => run(...args)]);
  return { ...Object.fromEntries(forms), constants: fs.constants };
}

function syncFunctions(whole: Record<string, unknown>): [string, AnyFunction][] {
  return Object.entries(whole)
    .filter((entry): entry is [string, AnyFunction] => entry[0].endsWith("Sync") && typeof entry[1] === "function")
    .map(([name, run]) => [name.slice(0, -"Sync".length), run]);
}

function attempt(run: AnyFunction, args: unknown[]): { readonly value: unknown } | { readonly error: unknown } {
  try {
    return { value: run(...args) };
  } catch (error) {
    return { error };
  }
}
