import { atFirstUse, defineProvider, type Provider, parseOptions, workingLater } from "@sandkit/core";
import { e2bCapabilities } from "./capabilities.js";
import { providerName } from "./errors.js";
import { type E2BNative, type E2BOptions, optionsSchema } from "./options.js";
import { planSandbox } from "./plan-sandbox.js";

/**
 * Sandboxes in microVMs at E2B. Nothing is loaded, asked for or connected to before the first use.
 * @throws SandboxError `INVALID` for options that are none
 */
export function e2b(options: E2BOptions = {}): Provider<E2BNative> {
  const about = { provider: providerName, operation: "e2b", what: "options of e2b()" };
  const parsed = parseOptions(optionsSchema, options, about);
  return defineProvider<E2BNative>({
    name: providerName,
    capabilities: e2bCapabilities,
    validate: (create) => {
      planSandbox(create, parsed);
    },
    ...workingLater(atFirstUse(async () => (await import("./work.js")).work(parsed))),
  });
}
