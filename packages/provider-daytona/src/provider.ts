import { defineProvider, type Provider } from "@sandkit/core";
import { parseOptions } from "@sandkit/core/plan";
import { CloudSandboxes } from "@sandkit/core/kit";
import { upperBound } from "./capabilities.js";
import { checkDaytona } from "./check.js";
import { DaytonaConnector } from "./client.js";
import { DaytonaCloud } from "./cloud.js";
import { providerName } from "./errors.js";
import { type DaytonaNative, type DaytonaOptions, optionsSchema } from "./options.js";
import { planSandbox } from "./plan-sandbox.js";

/**
 * Sandboxes at Daytona, through its own SDK. Nothing is loaded or connected to before the first use.
 * @throws SandboxError `INVALID` for options that are none
 */
export function daytona(options: DaytonaOptions = {}): Provider<DaytonaNative> {
  const about = { provider: providerName, operation: "daytona", what: "options of daytona()" };
  const parsed = parseOptions(optionsSchema, options, about);
  const connector = new DaytonaConnector(parsed);
  const sandboxes = new CloudSandboxes(() => new DaytonaCloud(connector, parsed));
  return defineProvider<DaytonaNative>({
    name: providerName,
    capabilities: upperBound,
    validate: (create) => {
      planSandbox(create, parsed);
    },
    create: (create) => sandboxes.create(create),
    attach: (ref, attach) => sandboxes.attach(ref, attach),
    list: (list) => sandboxes.list(list),
    reap: async (reap) => sandboxes.reap(reap),
    check: () => checkDaytona(connector),
    close: () => connector.close(),
  });
}
