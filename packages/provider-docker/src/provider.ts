import { atFirstUse, defineProvider, type Provider, parseOptions, workingLater } from "@sandkit/core";
import { dockerCapabilities } from "./capabilities.js";
import { providerName } from "./errors.js";
import { type DockerNative, type DockerOptions, optionsSchema } from "./options.js";
import { planSandbox } from "./plan-sandbox.js";
import { checkSnapshotId } from "./snapshot-id.js";

/**
 * Sandboxes in hardened containers, on Docker or what speaks its API. Nothing is connected to before the first use,
 * unless a pool is asked for.
 * @throws SandboxError `INVALID` for options that are none
 */
export function docker(options: DockerOptions = {}): Provider<DockerNative> {
  const about = { provider: providerName, operation: "docker", what: "options of docker()" };
  const parsed = parseOptions(optionsSchema, options, about);
  const work = atFirstUse(async () => (await import("./work.js")).work(parsed));
  // Fills the pool. What is wrong, the first create says.
  if (parsed.pool) work.get().catch(() => undefined);
  return defineProvider<DockerNative>({
    name: providerName,
    capabilities: dockerCapabilities(parsed),
    validate: (create) => {
      if (create.snapshot !== undefined) checkSnapshotId(create.snapshot, "create");
      planSandbox(create, parsed);
    },
    ...workingLater(work),
    snapshots: async function* () {
      yield* (await work.get()).snapshots();
    },
    removeSnapshot: async (id) => (await work.get()).removeSnapshot(id),
  });
}
