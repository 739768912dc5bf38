/** Makes the snapshot of QuickJS at build time: evaluates the driver, which a worker then finds done. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Engine, openQuickJs } from "../worker/quickjs.js";
import { type JavaScriptSnapshotInfo, moduleName } from "./javascript.js";
import { packPages } from "./pages.js";

const artifacts = dirname(fileURLToPath(import.meta.url));
const wasm = readFileSync(createRequire(import.meta.url).resolve("@jitl/quickjs-wasmfile-release-sync/wasm"));
const enoughMiB = 64;

const refuse = (what: string) => (): never => {
  throw new Error(`the snapshot must not need ${what}`);
};
const engine = new Engine(await openQuickJs(new WebAssembly.Module(wasm), enoughMiB), {
  call: refuse("the broker"),
  write: refuse("output"),
  sleep: refuse("sleep"),
  pendingSignal: () => 0,
  takeSignal: refuse("signals"),
});
engine.load(readFileSync(`${artifacts}/javascript.js`, "utf8"));
const { memory, place } = engine.save();
const { data, ...sparse } = packPages(memory);
const info: JavaScriptSnapshotInfo = { ...sparse, place, module: moduleName(wasm) };
writeFileSync(`${artifacts}/javascript-snapshot.bin`, data);
writeFileSync(`${artifacts}/javascript-snapshot.json`, JSON.stringify(info));
