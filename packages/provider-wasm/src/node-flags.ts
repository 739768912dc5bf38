import type { Artifacts } from "./artifacts.js";

/** The name of Node's permission flag in this version. */
export function permissionFlag(): string {
  return process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission";
}

/** Read access to our files, Pyodide's, QuickJS's and `readable`, threads, and nothing else: no writing, no processes, no addons. */
export function nodeFlags({ directory, pyodide, quickjs }: Artifacts, readable: readonly string[] = []): string[] {
  return [
    permissionFlag(),
    ...[`${directory}/`, `${pyodide}/`, `${quickjs}/`, ...readable].map((path) => `--allow-fs-read=${path}`),
    "--allow-worker",
    "--disallow-code-generation-from-strings",
    "--no-warnings",
  ];
}
