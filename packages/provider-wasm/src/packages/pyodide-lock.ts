import { readFileSync } from "node:fs";
import { normalizeName } from "./requirement.js";
import type { WheelTarget } from "./wheel-name.js";

/** One package that Pyodide's makers have built, or chosen, for exactly this interpreter. */
export interface LockedPackage {
  /** Normalised. */
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly sha256: string;
  /** Normalised names of what it needs besides. */
  readonly depends: readonly string[];
  /** Names by which it is imported. */
  readonly imports: readonly string[];
  readonly kind: "wheel" | "library";
}

/** What Pyodide's lock file tells. */
export interface PyodideLock {
  readonly target: WheelTarget;
  readonly packages: ReadonlyMap<string, LockedPackage>;
}

interface LockFile {
  readonly info: { readonly python: string; readonly abi_version: string };
  readonly packages: Readonly<Record<string, LockEntry>>;
}

interface LockEntry {
  readonly name: string;
  readonly version: string;
  readonly file_name: string;
  readonly sha256: string;
  readonly depends: readonly string[];
  readonly imports: readonly string[];
  readonly package_type: string;
}

let lock: PyodideLock | undefined;

/** Reads the lock file of the Pyodide that is installed; once. */
export function readLock(pyodide: string): PyodideLock {
  lock ??= parse(JSON.parse(readFileSync(`${pyodide}/pyodide-lock.json`, "utf8")) as LockFile);
  return lock;
}

function parse({ info, packages }: LockFile): PyodideLock {
  // The tests of packages are there too, for those who build Pyodide.
  const entries = Object.values(packages).filter(({ file_name }) => !file_name.endsWith("-tests.zip"));
  return {
    target: { python: info.python, platform: `pyemscripten_${info.abi_version}_wasm32` },
    packages: new Map(entries.map((entry) => [normalizeName(entry.name), packageOf(entry)])),
  };
}

function packageOf(entry: LockEntry): LockedPackage {
  return {
    name: normalizeName(entry.name),
    version: entry.version,
    filename: entry.file_name,
    sha256: entry.sha256,
    depends: entry.depends.map(normalizeName),
    imports: entry.imports,
    kind: entry.package_type === "shared_library" ? "library" : "wheel",
  };
}

/** The package whose import name this is: Pyodide's own word, else the name itself. */
export function packageOfImport({ packages }: PyodideLock, module: string): string {
  for (const { name, imports } of packages.values()) if (imports.includes(module)) return name;
  return normalizeName(module);
}
