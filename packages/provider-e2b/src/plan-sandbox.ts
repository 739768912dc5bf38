import { type CreateOptions, type MachinePlan, planMachine } from "@sandkit/core";
import { providerName, refusal } from "./errors.js";
import { type Egress, egressOf } from "./network.js";
import { type E2BNative, type E2BOptions, nativeSchema } from "./options.js";
import { type Start, startOf } from "./templates.js";

/** What a create asks for, parsed. */
export type SandboxPlan = MachinePlan<Start, Egress, E2BNative>;

/**
 * Turns options into a plan, without asking anybody.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the option
 */
export function planSandbox(create: CreateOptions<E2BNative>, { templates, packageHosts }: E2BOptions): SandboxPlan {
  const start = startOf(create, templates);
  const startsFrom = `template ${start.template}`;
  const plan = planMachine(create, { provider: providerName, start, startsFrom, nativeSchema, packageHosts, egressOf });
  if (plan.packages.length > 0 && start.name?.startsWith("node")) {
    const next = `install them in the sandbox by npm, with "network": "packages" and packageHosts`;
    throw refusal(
      "UNSUPPORTED",
      `option "packages": of template "${start.name}" only packages of Python can be: ${next}`,
    );
  }
  return plan;
}
