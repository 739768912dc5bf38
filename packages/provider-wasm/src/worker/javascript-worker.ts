/**
 * Entry of a worker thread with one QuickJS. As a worker of Python it spends its life, after loading, in one blocking
 * call: what it is to run comes from the broker through the link.
 */
import { parentPort, workerData } from "node:worker_threads";
import { WorkerEnd } from "../link.js";
import type { JavaScriptSnapshotInfo } from "../snapshot/javascript.js";
import { Engine, openQuickJs } from "./quickjs.js";
import type { WorkerMessage } from "./worker-message.js";

/** What the broker gives a new worker. */
export interface JavaScriptWorkerAssets {
  readonly module: WebAssembly.Module;
  /** A memory of QuickJS that has evaluated its driver. */
  readonly snapshot: JavaScriptSnapshotInfo;
  /** Its pages: an open file. */
  readonly pages: number;
  /** The source of the driver, for where the memory does not fit. */
  readonly driver: string;
  readonly memoryMiB: number;
  readonly link: SharedArrayBuffer;
}

async function main({
  module,
  snapshot,
  pages,
  driver,
  memoryMiB,
  link: memory,
}: JavaScriptWorkerAssets): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error("this file is the entry of a worker thread");
  const post = (message: WorkerMessage) => port.postMessage(message);
  const link = new WorkerEnd(memory, post);
  const signals = new Int32Array(new SharedArrayBuffer(8));
  const pendingSignal = () => Atomics.load(signals, 0);
  const quickJs = await openQuickJs(module, memoryMiB);
  post({ signals: signals.buffer });
  try {
    const engine = new Engine(quickJs, {
      call: (operation, args, data, send) => link.call(operation, args, data, send),
      write: (stream, bytes) => link.write(stream, bytes, () => pendingSignal() !== 0),
      // Waiting on the word that holds the signal ends when the broker stores one.
      sleep: (ms) => void Atomics.wait(signals, 0, 0, ms),
      pendingSignal,
      takeSignal: () => Atomics.exchange(signals, 0, 0),
    });
    if (!engine.restore(snapshot, pages)) engine.load(driver);
    engine.run();
  } catch (error) {
    // The engine itself has failed: nothing of it may run any more.
    const message = error instanceof Error ? error.message : "the engine failed";
    link.call("fatal", JSON.stringify([message]), null, false);
  }
}

await main(workerData as JavaScriptWorkerAssets);
