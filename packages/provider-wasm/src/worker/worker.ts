/**
 * Entry of a worker thread: one closed realm with one Python interpreter. After loading it
 * spends its life in one blocking call: what it is to run comes from the broker through the link.
 */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { WorkerEnd } from "../link.js";
import { readPages } from "../snapshot/pages.js";
import type { SnapshotInfo } from "../snapshot/snapshot.js";
import { openRealm, type RealmScripts, readInto, type ScriptCaches } from "./realm-host.js";
import type { WorkerMessage } from "./worker-message.js";

/** What a worker starts with, so that its thread is up by the time that the rest is there. */
export interface WorkerStart {
  readonly link: SharedArrayBuffer;
}

/** What the broker gives a worker, in the one message to it. */
export interface WorkerAssets {
  readonly module: WebAssembly.Module;
  readonly scripts: RealmScripts;
  readonly caches: ScriptCaches;
  /** Python's library and the snapshot's pages: open files, which stay what they are when the package is replaced. */
  readonly stdlib: number;
  readonly pages: number;
  readonly lock: string;
  readonly snapshot: SnapshotInfo;
  /** 64 KiB pages that the snapshot needs beyond what the module starts with. */
  readonly growPages: number;
  /** True: the caches of this worker's scripts are wanted. */
  readonly wantCaches: boolean;
}

async function main(port: MessagePort, start: WorkerStart): Promise<void> {
  const post = (message: WorkerMessage) => port.postMessage(message);
  const link = new WorkerEnd(start.link, post);
  const assets = await new Promise<WorkerAssets>((resolve) => port.once("message", resolve));
  let signals = new Int32Array(new SharedArrayBuffer(8));
  const { realm, create, caches } = openRealm(
    assets.scripts,
    {
      call: (operation, args, data, send) => link.call(operation, args, data, send),
      write: (stream, bytes) => link.write(stream, bytes, () => Atomics.load(signals, 0) !== 0),
      sleep(ms) {
        // The first word holds the signal; waiting on it ends when the broker stores one.
        if (ms > 0) Atomics.wait(signals, 0, 0, ms);
      },
      signals(buffer) {
        signals = new Int32Array(buffer);
        post({ signals: buffer });
      },
      restore(memory) {
        readPages(memory, assets.snapshot, assets.pages);
        return assets.snapshot.state;
      },
      // What the realm logs is for the build, where something fails that has no other voice.
      log: () => undefined,
    },
    assets.caches,
  );
  await realm.load({
    create,
    module: assets.module,
    stdlib: readInto(realm, assets.stdlib),
    lock: assets.lock,
    restore: true,
    growPages: assets.growPages,
  });
  if (assets.wantCaches) post({ caches: caches() });
  try {
    realm.run();
  } catch {
    // What was thrown is the guest's: Node's own report of it would run code that the guest hung on it.
    link.call("fatal", '["the driver failed"]', null, false);
  }
}

if (!parentPort) throw new Error("this file is the entry of a worker thread");
await main(parentPort, workerData as WorkerStart);
