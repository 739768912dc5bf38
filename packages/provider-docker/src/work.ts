import type { Provider, ProviderWork } from "@sandkit/core";
import { checkEngine } from "./check.js";
import { EngineConnector } from "./engine/connector.js";
import type { DockerNative, DockerOptions } from "./options.js";
import { reapAll } from "./reap-all.js";
import { Sandboxes } from "./sandboxes.js";
import { listSnapshots, removeSnapshot } from "./snapshots.js";

type DockerWork = ProviderWork<DockerNative> & Required<Pick<Provider, "snapshots" | "removeSnapshot">>;

/** What the provider does, loaded when it is first asked for. */
export function work(options: DockerOptions): DockerWork {
  const connector = new EngineConnector(options);
  const sandboxes = new Sandboxes(connector, options);
  return {
    create: (create) => sandboxes.create(create),
    attach: (ref, attach) => sandboxes.attach(ref, attach),
    list: (list) => sandboxes.list(list),
    snapshots: async function* () {
      yield* listSnapshots(await connector.connect());
    },
    removeSnapshot: async (id) => removeSnapshot(await connector.connect(), id),
    reap: async (reap) => reapAll(await connector.connect(), reap),
    check: () => checkEngine(connector, options),
    close: () => sandboxes.close(),
  };
}
