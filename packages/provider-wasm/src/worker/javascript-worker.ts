/**
 * Entry of a worker thread with one QuickJS. As the workers of Python it reads no files, and after loading it spends
 * its life in one blocking call: what it is to run comes from the broker through the link.
 */
import { parentPort, workerData } from "node:worker_threads";
import { WorkerEnd } from "../link.js";
import { Engine, openQuickJs } from "./quickjs.js";
import type { WorkerMessage } from "./worker-message.js";

/** What the broker gives a new worker. */
export interface JavaScriptWorkerAssets {
  readonly module: WebAssembly.Module;
  /** The driver that runs in QuickJS. */
  readonly driver: string;
  readonly memoryMiB: number;
  readonly link: SharedArrayBuffer;
}

async function main({ module, driver, memoryMiB, link: memory }: JavaScriptWorkerAssets): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error("this file is the entry of a worker thread");
  const post = (message: WorkerMessage) => port.postMessage(message);
  const link = new WorkerEnd(memory, post);
  const signals = new Int32Array(new SharedArrayBuffer(8));
  const pendingSignal = () => Atomics.load(signals, 0);
  const quickJs = await openQuickJs(module, memoryMiB);
  post({ signals: signals.buffer });
  try {
    new Engine(quickJs, memoryMiB, driver, {
      call: (operation, args, data, send) => link.call(operation, args, data, send),
      write: (stream, bytes) => link.write(stream, bytes, () => pendingSignal() !== 0),
      // Waiting on the word that holds the signal ends when the broker stores one.
      sleep: (ms) => void Atomics.wait(signals, 0, 0, ms),
      pendingSignal,
      takeSignal: () => Atomics.exchange(signals, 0, 0),
    }).run();
  } catch (error) {
    // The engine itself has failed: nothing of it may run any more.
    const message = error instanceof Error ? error.message : "the engine failed";
    link.call("fatal", JSON.stringify([message]), null, false);
  }
}

await main(workerData as JavaScriptWorkerAssets);
