import type * as z from "zod/mini";
import type { CreateOptions } from "../options.js";
import { parsePythonPackages } from "../packages/parse-packages.js";
import { parseOptions } from "../parse-options.js";
import type { ChosenTemplate } from "./choose-template.js";
import type { CloudPlan } from "./cloud.js";
import { networkPlan, type Reach } from "./network-plan.js";

/** What a create asks of a vendor, parsed. */
export interface MachinePlan<Start, Egress, Native> extends CloudPlan {
  readonly start: ChosenTemplate<Start>;
  /** What the machine may reach while packages are installed, in the vendor's words. */
  readonly egressAtFirst: Egress;
  /** The same for its life. */
  readonly egress: Egress;
  readonly native: Native;
}

/** What a vendor makes of options that all clouds have. */
export interface PlanWords<Start, Egress, Native> {
  readonly provider: string;
  readonly start: ChosenTemplate<Start>;
  /** What that is, for people. */
  readonly startsFrom: string;
  readonly nativeSchema: z.core.$ZodType<Native>;
  /** Hosts of package indexes that the provider's options name. */
  readonly packageHosts?: readonly string[] | undefined;
  /** @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the entry */
  egressOf(reach: Reach): Egress;
}

/**
 * Turns options into a plan, without asking anybody.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the option
 */
export function planMachine<Start extends object, Egress, Native>(
  create: CreateOptions<unknown>,
  { provider, start, startsFrom, nativeSchema, packageHosts, egressOf }: PlanWords<Start, Egress, Native>,
): MachinePlan<Start, Egress, Native> {
  const { atFirst, forLife, narrows } = networkPlan(create, packageHosts);
  const about = { provider, operation: "create", what: 'option "native"' };
  return {
    start,
    startsFrom,
    template: start.name,
    packages: parsePythonPackages(provider, create.packages),
    egressAtFirst: egressOf(atFirst),
    egress: egressOf(forLife),
    narrowsNetwork: narrows,
    native: parseOptions(nativeSchema, create.native ?? {}, about),
  };
}
