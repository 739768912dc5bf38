import { defineProvider, describeIssues, type Provider } from "@sandkit/core";
import { dockerCapabilities } from "./capabilities.js";
import { checkEngine } from "./check.js";
import { EngineConnector } from "./engine/client.js";
import { providerName, refusal } from "./errors.js";
import { type DockerNative, type DockerOptions, optionsSchema } from "./options.js";
import { planSandbox } from "./plan-sandbox.js";
import { reapContainers } from "./reaper.js";
import { Sandboxes } from "./sandboxes.js";

/**
 * Sandboxes in hardened containers, on Docker or what speaks its API. Nothing is connected to before the first use.
 * @throws SandboxError `INVALID` for options that are none
 */
export function docker(options: DockerOptions = {}): Provider<DockerNative> {
  const parsed = optionsSchema.safeParse(options);
  if (!parsed.success) throw refusal("INVALID", `options of docker(): ${describeIssues(parsed.error)}`, "docker");
  const connector = new EngineConnector(parsed.data);
  const sandboxes = new Sandboxes(connector, parsed.data);
  return defineProvider<DockerNative>({
    name: providerName,
    capabilities: dockerCapabilities(parsed.data),
    validate: (create) => {
      planSandbox(create, parsed.data);
    },
    create: (create) => sandboxes.create(create),
    attach: (ref, attach) => sandboxes.attach(ref, attach),
    list: (list) => sandboxes.list(list),
    reap: async (reap) => reapContainers(await connector.connect(), reap),
    check: () => checkEngine(connector, parsed.data),
  });
}
