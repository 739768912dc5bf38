import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The exact Pyodide that the snapshot is made with. */
export const pyodideVersion = "314.0.7";

/** Where the files lie that a sandbox's child process is made from. */
export interface Artifacts {
  /** Our built files: `child.mjs`, the workers, `realm.js`, the snapshots. */
  readonly directory: string;
  /** Pyodide's package. */
  readonly pyodide: string;
  /** Where QuickJS's module lies. */
  readonly quickjs: string;
}

/** Finds them beside this file, or in `dist` when this file runs from its source. */
export function findArtifacts(): Artifacts {
  const here = dirname(fileURLToPath(import.meta.url));
  const directory = existsSync(join(here, "child.mjs")) ? here : join(here, "../dist");
  const { resolve } = createRequire(import.meta.url);
  const pyodide = dirname(resolve("pyodide/package.json"));
  const quickjs = dirname(resolve("@jitl/quickjs-wasmfile-release-sync/wasm"));
  // The permissions of the child are given by real paths.
  return { directory: realpathSync(directory), pyodide: realpathSync(pyodide), quickjs: realpathSync(quickjs) };
}

/** What is missing in the build; undefined when it is complete. */
export function missingArtifact({ directory }: Artifacts): string | undefined {
  const names = ["child.mjs", "worker.mjs", "realm.js", "snapshot.json", "snapshot.bin"];
  const forCache = ["build-code-cache.mjs", "warm_up.py"];
  const forJavaScript = [
    "javascript-worker.mjs",
    "javascript.js",
    "javascript-snapshot.json",
    "javascript-snapshot.bin",
  ];
  const forShell = ["shell-worker.mjs", "shell.js", "shell.json", "shell.cache"];
  return [...names, ...forCache, ...forJavaScript, ...forShell].find((name) => !existsSync(join(directory, name)));
}
