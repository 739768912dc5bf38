import { openSync, readFileSync } from "node:fs";
import { codeCacheKey, readCodeCache } from "../code-cache/code-cache.js";
import { deserializeModule } from "../code-cache/native-code.js";
import type { ChildOptions } from "../protocol.js";
import { readPythonSources } from "../python-sources.js";
import { type JavaScriptSnapshotInfo, moduleName } from "../snapshot/javascript.js";
import type { SnapshotInfo } from "../snapshot/snapshot.js";
import type { JavaScriptWorkerAssets } from "../worker/javascript-worker.js";
import type { ScriptCaches } from "../worker/realm-host.js";
import type { ShellWorkerAssets } from "../worker/shell-worker.js";
import type { WorkerAssets } from "../worker/worker.js";
import { limitMemory } from "./wasm-memory.js";

/** What all workers of a sandbox are made from. */
export type SharedAssets = Omit<WorkerAssets, "caches" | "wantCaches">;

/** The assets, and what of them was compiled before. */
interface LoadedAssets {
  readonly assets: SharedAssets;
  readonly caches: ScriptCaches;
  /** Names the code cache that fits. */
  readonly key: string;
  /** Whether it was there. */
  readonly cached: boolean;
}

const pagesPerMiB = 16;

/** Reads Pyodide and our snapshot of it, and compiles the interpreter with its memory capped, or takes it as compiled. */
export function loadAssets({
  pyodide,
  artifacts,
  memoryMiB,
  codeCache,
}: Pick<ChildOptions, "pyodide" | "artifacts" | "memoryMiB" | "codeCache">): LoadedAssets {
  const snapshot = JSON.parse(readFileSync(`${artifacts}/snapshot.json`, "utf8")) as SnapshotInfo;
  const wasm = readFileSync(`${pyodide}/pyodide.asm.wasm`);
  const initialPages = limitMemory(wasm, memoryMiB * pagesPerMiB);
  const scripts = { realm: readFileSync(`${artifacts}/realm.js`, "utf8"), ...readPythonSources(pyodide) };
  const key = codeCacheKey({ scripts, snapshot }, wasm, memoryMiB);
  const cache = codeCache === undefined ? undefined : readCodeCache(codeCache, key);
  const module = cache?.native && deserializeModule(cache.native, wasm);
  const assets: SharedAssets = {
    module: module ?? new WebAssembly.Module(wasm),
    scripts,
    stdlib: openSync(`${pyodide}/python_stdlib.zip`, "r"),
    lock: emptyLock(readFileSync(`${pyodide}/pyodide-lock.json`, "utf8")),
    snapshot,
    pages: openSync(`${artifacts}/snapshot.bin`, "r"),
    growPages: Math.max(0, snapshot.size / 65_536 - initialPages),
  };
  const caches = cache?.scripts ?? shippedCaches(artifacts, snapshot);
  return { assets, caches, key, cached: cache !== undefined };
}

/** What all workers of JavaScript are made from. */
export function loadJavaScriptAssets({
  quickjs,
  artifacts,
  memoryMiB,
}: Pick<ChildOptions, "quickjs" | "artifacts" | "memoryMiB">): Omit<JavaScriptWorkerAssets, "link"> {
  const wasm = readFileSync(`${quickjs}/emscripten-module.wasm`);
  const snapshot = JSON.parse(readFileSync(`${artifacts}/javascript-snapshot.json`, "utf8")) as JavaScriptSnapshotInfo;
  if (snapshot.module !== moduleName(wasm)) throw new Error("the snapshot of QuickJS belongs to another build of it");
  const pages = openSync(`${artifacts}/javascript-snapshot.bin`, "r");
  const driver = readFileSync(`${artifacts}/javascript.js`, "utf8");
  return { module: new WebAssembly.Module(wasm), snapshot, pages, driver, memoryMiB };
}

/** What all workers of the shell are made from. */
export function loadShellAssets({ artifacts }: Pick<ChildOptions, "artifacts">): Omit<ShellWorkerAssets, "link"> {
  const { v8 } = readShellInfo(artifacts);
  return {
    source: readFileSync(`${artifacts}/shell.js`, "utf8"),
    cache: v8 === process.versions.v8 ? readFileSync(`${artifacts}/shell.cache`) : undefined,
  };
}

/** Names of the shell's commands. */
export function shellCommands({ artifacts }: Pick<ChildOptions, "artifacts">): ReadonlySet<string> {
  return new Set(readShellInfo(artifacts).commands);
}

function readShellInfo(artifacts: string): { readonly v8: string; readonly commands: readonly string[] } {
  return JSON.parse(readFileSync(`${artifacts}/shell.json`, "utf8")) as ReturnType<typeof readShellInfo>;
}

/** Pyodide wants a lock file of its own version; without packages there is nothing to look up. */
export function emptyLock(lock: string): string {
  const { info } = JSON.parse(lock) as { info: unknown };
  return JSON.stringify({ info, packages: {} });
}

/** Caches of compiled scripts, which the build leaves for its own version of V8; none for another. */
function shippedCaches(artifacts: string, { v8 }: SnapshotInfo): ScriptCaches {
  if (v8 !== process.versions.v8) return {};
  const read = (name: keyof ScriptCaches) => readFileSync(`${artifacts}/${name}.cache`);
  return { realm: read("realm"), loader: read("loader"), runtime: read("runtime") };
}
