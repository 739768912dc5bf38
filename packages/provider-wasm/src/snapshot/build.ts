/**
 * Makes the snapshot at build time: loads Pyodide in a realm, imports the driver and what programs use most, and saves
 * the memory. Run it on Node 20: a snapshot made by a newer one does not load there.
 */
import { createHash } from "node:crypto";
import { copyFileSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { emptyLock } from "../broker/assets.js";
import { readPythonSources } from "../python-sources.js";
import { openRealm, readInto } from "../worker/realm-host.js";
import { packPages } from "./pages.js";
import { type SnapshotInfo, splitSnapshot } from "./snapshot.js";

const artifacts = dirname(fileURLToPath(import.meta.url));
const pyodide = dirname(createRequire(import.meta.url).resolve("pyodide/package.json"));
const own = `${artifacts}/../src/guest/python`;
/** What every Python driver of Sandkit has in common lies in core. */
const common = `${dirname(createRequire(import.meta.url).resolve("@sandkit/core"))}/guest/python-kernel`;
const commonModules = [
  "display.py",
  "exit_code.py",
  "failures.py",
  "figures.py",
  "frames.py",
  "imports.py",
  "magics.py",
  "patches.py",
];

const refuse = (what: string) => (): never => {
  throw new Error(`the snapshot must not need ${what}`);
};
const scripts = { realm: readFileSync(`${artifacts}/realm.js`, "utf8"), ...readPythonSources(pyodide) };
const { realm, create, caches } = openRealm(scripts, {
  call: refuse("the broker"),
  write: refuse("output"),
  sleep: refuse("sleep"),
  signals: refuse("signals"),
  restore: refuse("a snapshot"),
  log: (text) => process.stderr.write(`${text}\n`),
});
await realm.load({
  create,
  module: new WebAssembly.Module(readFileSync(`${pyodide}/pyodide.asm.wasm`)),
  stdlib: readInto(realm, openSync(`${pyodide}/python_stdlib.zip`, "r")),
  lock: emptyLock(readFileSync(`${pyodide}/pyodide-lock.json`, "utf8")),
  restore: false,
  growPages: 0,
});
const apart = ["preload.py", "warm_up.py"];
const ownModules = readdirSync(own).filter((name) => name.endsWith(".py") && !apart.includes(name));
const files = [...ownModules.map((name) => `${own}/${name}`), ...commonModules.map((name) => `${common}/${name}`)];
const sources = files.map((path) => [`/lib/python3.14/site-packages/_sandkit/${basename(path)}`, read(path)]);
realm.prepare(JSON.stringify(Object.fromEntries(sources)), read(`${own}/preload.py`));

const { state, memory } = splitSnapshot(realm.snapshot());
const { data, ...sparse } = packPages(memory);
const build = createHash("sha256").update(JSON.stringify(scripts)).update(data).digest("hex");
const info: SnapshotInfo = { ...sparse, state, build, pyodide: version(), v8: process.versions.v8 };
writeFileSync(`${artifacts}/snapshot.bin`, data);
writeFileSync(`${artifacts}/snapshot.json`, JSON.stringify(info));
copyFileSync(`${own}/warm_up.py`, `${artifacts}/warm_up.py`);
// After everything has run, so that they hold every function in use.
for (const [name, cache] of Object.entries(caches())) writeFileSync(`${artifacts}/${name}.cache`, cache);

function read(path: string): string {
  return readFileSync(path, "utf8");
}

function version(): string {
  return (JSON.parse(readFileSync(`${pyodide}/package.json`, "utf8")) as { version: string }).version;
}
