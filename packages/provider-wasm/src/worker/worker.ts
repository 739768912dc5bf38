/**
 * Entry of a worker thread: one closed realm with one Python interpreter. It never reads files, and after loading it
 * spends its life in one blocking call: what it is to run comes from the broker through the link.
 */
import { parentPort, workerData } from "node:worker_threads";
import { WorkerEnd } from "../link.js";
import { unpackPages } from "../snapshot/pages.js";
import type { SnapshotInfo } from "../snapshot/snapshot.js";
import { copyInto, openRealm, type RealmScripts, type ScriptCaches } from "./realm-host.js";
import type { WorkerMessage } from "./worker-message.js";

/** What the broker gives a new worker. */
export interface WorkerAssets {
  readonly module: WebAssembly.Module;
  readonly scripts: RealmScripts;
  readonly caches: ScriptCaches;
  readonly stdlib: Uint8Array;
  readonly lock: string;
  readonly snapshot: SnapshotInfo;
  readonly pages: Uint8Array;
  /** 64 KiB pages that the snapshot needs beyond what the module starts with. */
  readonly growPages: number;
  readonly link: SharedArrayBuffer;
  /** True: the caches of this worker's scripts are wanted. */
  readonly wantCaches: boolean;
}

async function main(assets: WorkerAssets): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error("this file is the entry of a worker thread");
  const post = (message: WorkerMessage) => port.postMessage(message);
  const link = new WorkerEnd(assets.link, post);
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
        unpackPages(memory, assets.snapshot, assets.pages);
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
    stdlib: copyInto(realm, assets.stdlib),
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

await main(workerData as WorkerAssets);
