/** Entry of a worker thread with one shell. It runs one job after another, until one ends badly or grows too large. */
import { getHeapStatistics } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import { WorkerEnd } from "../link.js";
import { openShellRealm } from "./shell-realm.js";
import type { WorkerMessage } from "./worker-message.js";

/** What the broker gives a new worker. */
export interface ShellWorkerAssets {
  readonly source: string;
  readonly cache: Uint8Array | undefined;
  readonly link: SharedArrayBuffer;
}

/** A heap above it is left behind with its thread, and not used for the next job. */
const largestKeptHeap = 96 * 1024 * 1024;

async function main({ source, cache, link: memory }: ShellWorkerAssets): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error("this file is the entry of a worker thread");
  const link = new WorkerEnd(memory, (message) => port.postMessage(message satisfies WorkerMessage));
  const isLarge = () => getHeapStatistics().used_heap_size > largestKeptHeap;
  const { shell } = openShellRealm(
    source,
    {
      call: (operation, args, data, send) =>
        link.call(operation === "finish" && isLarge() ? "exit" : operation, args, data, send),
      write: (stream, bytes) => link.write(stream, bytes, () => false),
    },
    cache,
  );
  try {
    await shell.run();
  } catch {
    // What was thrown is of the realm: not even its message may be asked for.
    link.call("fatal", '["the shell failed"]', null, false);
  }
}

await main(workerData as ShellWorkerAssets);
