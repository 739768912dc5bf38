/**
 * Entry of the process that makes a code cache: runs the interpreter on code of our own until V8 has optimised what
 * programs use most, and keeps what was compiled.
 */
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { loadAssets } from "../broker/assets.js";
import { readCellResult } from "../broker/cell-result.js";
import { FileError } from "../broker/file-error.js";
import { FileSystem } from "../broker/filesystem.js";
import { GuestFiles } from "../broker/guest-files.js";
import { ensureDirectory } from "../broker/path-resolver.js";
import type { HostApi } from "../guest/host-api.js";
import { sitePackages } from "../packages/wheel-layout.js";
import type { ChildOptions } from "../protocol.js";
import { readPages } from "../snapshot/pages.js";
import { openRealm, readInto } from "../worker/realm-host.js";
import { isCodeCacheName, writeCodeCache } from "./code-cache.js";
import { serializeModule } from "./native-code.js";

/** What is built, and where it goes. */
export interface CodeCacheRequest extends Pick<ChildOptions, "pyodide" | "artifacts" | "memoryMiB"> {
  readonly path: string;
  /** After so long it ends without success. */
  readonly deadlineMs: number;
}

const workdir = "/workspace";
/** Optimised code comes from threads of V8's own; what is still under way is not part of the cache. */
const settleMs = 700;
/** The newest; those of other versions and memories must not pile up. */
const keptCaches = 8;

if (isMainThread) {
  const request = JSON.parse(process.argv[2] ?? "{}") as CodeCacheRequest;
  process.title = `sandkit: compiles for later starts into ${dirname(request.path)}`;
  // A thread of its own does the work, so that nothing in it can hold up the deadline.
  setTimeout(() => process.kill(process.pid, "SIGKILL"), request.deadlineMs);
  const worker = new Worker(new URL(import.meta.url), { workerData: request, resourceLimits: { stackSizeMb: 4 } });
  worker.on("exit", (code) => process.exit(code));
} else {
  const request = workerData as CodeCacheRequest;
  await build(request);
  sweep(dirname(request.path));
}

async function build({ path, deadlineMs: _, ...options }: CodeCacheRequest): Promise<void> {
  const { key, assets } = loadAssets(options);
  const cells = [readFileSync(`${options.artifacts}/warm_up.py`, "utf8"), "1 + 1", "print('done')"];
  const { realm, create, caches } = openRealm(assets.scripts, {
    call: answer(cells),
    write: () => true,
    sleep: () => undefined,
    signals: () => undefined,
    restore(memory) {
      readPages(memory, assets.snapshot, assets.pages);
      return assets.snapshot.state;
    },
    log: () => undefined,
  });
  const { module, lock, growPages } = assets;
  await realm.load({ create, module, lock, growPages, restore: true, stdlib: readInto(realm, assets.stdlib) });
  try {
    realm.run();
  } catch (error) {
    // The driver serves for ever: it ends by the answer that it does not get.
    if (cells.length > 0) throw error;
  }
  await wait(settleMs);
  writeCodeCache(path, key, { scripts: caches(), native: serializeModule(module) });
}

/** Answers one kernel as the broker does, with these cells. */
function answer(cells: string[]): HostApi["call"] {
  const files = new FileSystem(1024 * 1024);
  for (const directory of [workdir, "/tmp", "/home/user", sitePackages]) ensureDirectory(files, directory);
  const guestFiles = new GuestFiles(files);
  const job = { kind: "kernel", cwd: workdir, env: { HOME: "/home/user" }, pid: 2, autoInstall: false };
  const fileCall = (operation: string, args: string, data: Uint8Array | null, send: boolean) => {
    const [sent, reply] = send ? [data, null] : [null, data];
    try {
      const none = new Uint8Array();
      return { result: guestFiles.run(operation, JSON.parse(args), sent ?? none, reply ?? none).result };
    } catch (error) {
      if (error instanceof FileError) return { error: error.errno };
      throw error;
    }
  };
  return (operation, args, data, send) => {
    if (operation.startsWith("fs.")) return JSON.stringify(fileCall(operation.slice(3), args, data, send));
    if (operation === "job") return JSON.stringify(job);
    if (operation === "done" && readCellResult(args).exitCode !== 0) throw new Error(`a cell failed: ${args}`);
    if (operation !== "cell") return "null";
    const cell = cells.shift();
    if (cell === undefined) throw new Error("there are no more cells");
    return JSON.stringify(cell);
  };
}

function sweep(directory: string): void {
  const files = readdirSync(directory)
    .filter(isCodeCacheName)
    .map((name) => join(directory, name));
  const byAge = files.map((path) => ({ path, modified: statSync(path).mtimeMs }));
  byAge.sort((a, b) => b.modified - a.modified);
  for (const { path } of byAge.slice(keptCaches)) rmSync(path, { force: true });
}
