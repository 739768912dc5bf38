import { atFirstUse, defineProvider, type Provider, parseOptions, workingLater } from "@sandkit/core";
import { upperBound } from "./capabilities.js";
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
  return defineProvider<DaytonaNative>({
    name: providerName,
    capabilities: upperBound,
    validate: (create) => {
      planSandbox(create, parsed);
    },
    ...workingLater(atFirstUse(async () => (await import("./work.js")).work(parsed))),
  });
}
