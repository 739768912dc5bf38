import { defineProvider, type Provider } from "@sandkit/core";
import { parseOptions } from "@sandkit/core/plan";
import { dockerCapabilities } from "./capabilities.js";
import { checkEngine } from "./check.js";
import { EngineConnector } from "./engine/connector.js";
import { providerName } from "./errors.js";
import { type DockerNative, type DockerOptions, optionsSchema } from "./options.js";
import { planSandbox } from "./plan-sandbox.js";
import { reapAll } from "./reap-all.js";
import { Sandboxes } from "./sandboxes.js";
import { checkSnapshotId, listSnapshots, removeSnapshot } from "./snapshots.js";

/**
 * Sandboxes in hardened containers, on Docker or what speaks its API. Nothing is connected to before the first use,
 * unless a pool is asked for.
 * @throws SandboxError `INVALID` for options that are none
 */
export function docker(options: DockerOptions = {}): Provider<DockerNative> {
  const about = { provider: providerName, operation: "docker", what: "options of docker()" };
  const parsed = parseOptions(optionsSchema, options, about);
  const connector = new EngineConnector(parsed);
  const sandboxes = new Sandboxes(connector, parsed);
  return defineProvider<DockerNative>({
    name: providerName,
    capabilities: dockerCapabilities(parsed),
    validate: (create) => {
      if (create.snapshot !== undefined) checkSnapshotId(create.snapshot);
      planSandbox(create, parsed);
    },
    create: (create) => sandboxes.create(create),
    attach: (ref, attach) => sandboxes.attach(ref, attach),
    list: (list) => sandboxes.list(list),
    snapshots: async function* () {
      yield* listSnapshots(await connector.connect());
    },
    removeSnapshot: async (id) => removeSnapshot(await connector.connect(), id),
    reap: async (reap) => reapAll(await connector.connect(), reap),
    check: () => checkEngine(connector, parsed),
    close: () => sandboxes.close(),
  });
}
