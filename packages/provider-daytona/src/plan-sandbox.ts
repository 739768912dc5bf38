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
import { type DaytonaNative, type DaytonaOptions, nativeSchema } from "./options.js";
import { resourcesOf } from "./resources.js";
import { type Start, startOf } from "./templates.js";

/** What a create asks for, parsed. */
export interface SandboxPlan extends CloudPlan {
  readonly start: ChosenTemplate<Start>;
  readonly resources: ReturnType<typeof resourcesOf>;
  readonly native: DaytonaNative;
  /** What it may reach while packages are installed, and for its life. */
  readonly egressAtFirst: Egress;
  readonly egress: Egress;
}

/**
 * Turns options into a plan, without asking anybody.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the option
 */
export function planSandbox(create: CreateOptions<DaytonaNative>, options: DaytonaOptions): SandboxPlan {
  const start = startOf(create, options.snapshots);
  const { atFirst, forLife, narrows } = networkPlan(create, options.packageHosts);
  return {
    start,
    startsFrom: start.image ?? start.snapshot ?? "its default snapshot",
    template: start.name,
    resources: resourcesOf(create.resources, start),
    native: parseNative(create.native),
    packages: checkRequirements(providerName, create.packages),
    egressAtFirst: egressOf(atFirst),
    egress: egressOf(forLife),
    narrowsNetwork: narrows,
  };
}

function parseNative(native: unknown): DaytonaNative {
  const parsed = nativeSchema.safeParse(native ?? {});
  if (parsed.success) return parsed.data;
  throw refusal("INVALID", `option "native": ${describeIssues(parsed.error)}`);
}
