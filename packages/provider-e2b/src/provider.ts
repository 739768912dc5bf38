import { defineProvider, type Provider } from "@sandkit/core";
import { parseOptions } from "@sandkit/core/plan";
import { CloudSandboxes } from "@sandkit/core/kit";
import { e2bCapabilities } from "./capabilities.js";
import { checkE2B } from "./check.js";
import { E2BConnector } from "./client.js";
import { E2BCloud } from "./cloud.js";
import { providerName } from "./errors.js";
import { type E2BNative, type E2BOptions, optionsSchema } from "./options.js";
import { planSandbox } from "./plan-sandbox.js";

/**
 * Sandboxes in micro machines at E2B. Nothing is loaded, asked for or connected to before the first use.
 * @throws SandboxError `INVALID` for options that are none
 */
export function e2b(options: E2BOptions = {}): Provider<E2BNative> {
  const about = { provider: providerName, operation: "e2b", what: "options of e2b()" };
  const parsed = parseOptions(optionsSchema, options, about);
  const connector = new E2BConnector(parsed);
  const sandboxes = new CloudSandboxes((operation) => new E2BCloud(connector.connect(operation), parsed));
  return defineProvider<E2BNative>({
    name: providerName,
    capabilities: e2bCapabilities,
    validate: (create) => {
      planSandbox(create, parsed);
    },
    create: (create) => sandboxes.create(create),
    attach: (ref, attach) => sandboxes.attach(ref, attach),
    list: (list) => sandboxes.list(list),
    reap: async (reap) => sandboxes.reap(reap),
    check: () => checkE2B(connector),
  });
}
