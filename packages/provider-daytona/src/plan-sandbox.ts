import { type CreateOptions, describeIssues, type NetworkPolicy, optionsDigest } from "@sandkit/core";
import { refusal } from "./errors.js";
import { type Egress, egressOf, indexHosts } from "./network.js";
import { type DaytonaNative, type DaytonaOptions, nativeSchema } from "./options.js";
import { checkedRequirements } from "./requirements.js";
import { resourcesOf } from "./resources.js";
import { type StartingImage, startingImage } from "./templates.js";

/** What a create asks for, parsed. */
export interface SandboxPlan {
  readonly start: StartingImage;
  readonly resources: ReturnType<typeof resourcesOf>;
  readonly native: DaytonaNative;
  readonly egress: Egress;
  /** Until the packages are installed, where they need more than that. */
  readonly egressAtFirst: Egress;
  readonly packages: readonly string[];
  /** Hash of what a second create of the name must ask for too. */
  readonly optionsDigest: string;
}

/**
 * Turns options into a plan, without asking anybody.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the option
 */
export function planSandbox(create: CreateOptions<DaytonaNative>, options: DaytonaOptions): SandboxPlan {
  const start = startingImage(create, options.snapshots);
  const packages = checkedRequirements(create.packages);
  const egress = egressOf(create.network);
  return {
    start,
    resources: resourcesOf(create.resources, start),
    native: parseNative(create.native),
    egress,
    egressAtFirst: packages.length === 0 ? egress : egressOf(withIndexes(create.network)),
    packages,
    optionsDigest: optionsDigest(create),
  };
}

/** The policy with the places that packages come from. */
function withIndexes(policy: NetworkPolicy = "none"): NetworkPolicy {
  if (policy === "none") return "packages";
  return typeof policy === "string" ? policy : { allow: [...policy.allow, ...indexHosts] };
}

function parseNative(native: unknown): DaytonaNative {
  const parsed = nativeSchema.safeParse(native ?? {});
  if (parsed.success) return parsed.data;
  throw refusal("INVALID", `option "native": ${describeIssues(parsed.error)}`);
}
