import {
  type ChosenTemplate,
  type CloudPlan,
  type CreateOptions,
  checkRequirements,
  describeIssues,
  networkPlan,
} from "@sandkit/core";
import { providerName, refusal } from "./errors.js";
import { type Egress, egressOf } from "./network.js";
import { type E2BNative, type E2BOptions, nativeSchema } from "./options.js";
import { type Start, startOf } from "./templates.js";

/** What a create asks for, parsed. */
export interface SandboxPlan extends CloudPlan {
  readonly start: ChosenTemplate<Start>;
  /** What it may reach while packages are installed, and for its life. */
  readonly egressAtFirst: Egress;
  readonly egress: Egress;
  readonly native: E2BNative;
}

/**
 * Turns options into a plan, without asking anybody.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the option
 */
export function planSandbox(create: CreateOptions<E2BNative>, options: E2BOptions): SandboxPlan {
  const start = startOf(create, options.templates);
  const packages = checkRequirements(providerName, create.packages);
  if (packages.length > 0 && start.name?.startsWith("node")) {
    const next = `install them in the sandbox by npm, with "network": "packages" and packageHosts`;
    throw refusal(
      "UNSUPPORTED",
      `option "packages": of template "${start.name}" only packages of Python can be: ${next}`,
    );
  }
  const { atFirst, forLife, narrows } = networkPlan(create, options.packageHosts);
  return {
    start,
    startsFrom: `template ${start.template}`,
    template: start.name,
    packages,
    egressAtFirst: egressOf(atFirst),
    egress: egressOf(forLife),
    narrowsNetwork: narrows,
    native: parseNative(create.native),
  };
}

function parseNative(native: unknown): E2BNative {
  const parsed = nativeSchema.safeParse(native ?? {});
  if (parsed.success) return parsed.data;
  throw refusal("INVALID", `option "native": ${describeIssues(parsed.error)}`);
}
