import { type CreateOptions, type MachinePlan, planMachine } from "@sandkit/core";
import { providerName } from "./errors.js";
import { type Egress, egressOf } from "./network.js";
import { type DaytonaNative, type DaytonaOptions, nativeSchema } from "./options.js";
import { resourcesOf } from "./resources.js";
import { type Start, startOf } from "./templates.js";

/** What a create asks for, parsed. */
export interface SandboxPlan extends MachinePlan<Start, Egress, DaytonaNative> {
  readonly resources: ReturnType<typeof resourcesOf>;
}

/**
 * Turns options into a plan, without asking anybody.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the option
 */
export function planSandbox(create: CreateOptions<DaytonaNative>, options: DaytonaOptions): SandboxPlan {
  const start = startOf(create, options.snapshots);
  const resources = resourcesOf(create.resources, start);
  const startsFrom = start.image ?? start.snapshot ?? "its default snapshot";
  const { packageHosts } = options;
  const plan = planMachine(create, { provider: providerName, start, startsFrom, nativeSchema, packageHosts, egressOf });
  return { ...plan, resources };
}
