import { readFileSync } from "node:fs";
import type { ChildOptions } from "../protocol.js";
import { readPythonSources } from "../python-sources.js";
import { type JavaScriptSnapshotInfo, moduleName } from "../snapshot/javascript.js";
import type { SnapshotInfo } from "../snapshot/snapshot.js";
import type { JavaScriptWorkerAssets } from "../worker/javascript-worker.js";
import type { ScriptCaches } from "../worker/realm-host.js";
import type { WorkerAssets } from "../worker/worker.js";
import { limitMemory } from "./wasm-memory.js";

/** What all workers of a sandbox are made from. */
export type SharedAssets = Omit<WorkerAssets, "link" | "wantCaches" | "caches">;

const pagesPerMiB = 16;

/** Reads Pyodide and our snapshot of it, and compiles the interpreter with its memory capped. */
export function loadAssets({ pyodide, artifacts, memoryMiB }: ChildOptions): SharedAssets {
  const snapshot = JSON.parse(readFileSync(`${artifacts}/snapshot.json`, "utf8")) as SnapshotInfo;
  const { module, initialPages } = limitMemory(readFileSync(`${pyodide}/pyodide.asm.wasm`), memoryMiB * pagesPerMiB);
  const sources = readPythonSources(pyodide);
  return {
    module: new WebAssembly.Module(module),
    scripts: { realm: readFileSync(`${artifacts}/realm.js`, "utf8"), ...sources },
    stdlib: shared(readFileSync(`${pyodide}/python_stdlib.zip`)),
    lock: emptyLock(readFileSync(`${pyodide}/pyodide-lock.json`, "utf8")),
    snapshot,
    pages: shared(readFileSync(`${artifacts}/snapshot.bin`)),
    growPages: Math.max(0, snapshot.size / 65_536 - initialPages),
  };
}

/** What all workers of JavaScript are made from. */
export function loadJavaScriptAssets(options: ChildOptions): Omit<JavaScriptWorkerAssets, "link"> {
  const { quickjs, artifacts, memoryMiB } = options;
  const wasm = readFileSync(`${quickjs}/emscripten-module.wasm`);
  const snapshot = JSON.parse(readFileSync(`${artifacts}/javascript-snapshot.json`, "utf8")) as JavaScriptSnapshotInfo;
  if (snapshot.module !== moduleName(wasm)) throw new Error("the snapshot of QuickJS belongs to another build of it");
  const pages = shared(readFileSync(`${artifacts}/javascript-snapshot.bin`));
  const driver = readFileSync(`${artifacts}/javascript.js`, "utf8");
  return { module: new WebAssembly.Module(wasm), snapshot, pages, driver, memoryMiB };
}

/** Pyodide wants a lock file of its own version; without packages there is nothing to look up. */
export function emptyLock(lock: string): string {
  const { info } = JSON.parse(lock) as { info: unknown };
  return JSON.stringify({ info, packages: {} });
}

/** Caches of compiled scripts, which the build leaves for its own version of V8; none for another. */
export function loadCaches({ artifacts }: ChildOptions, { snapshot }: SharedAssets): ScriptCaches {
  if (snapshot.v8 !== process.versions.v8) return {};
  const read = (name: keyof ScriptCaches) => readFileSync(`${artifacts}/${name}.cache`);
  return { realm: read("realm"), loader: read("loader"), runtime: read("runtime") };
}

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}
