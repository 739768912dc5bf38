import { egressEntries, type NetworkPolicy } from "@sandkit/core";
import { providerName } from "./errors.js";

/** What Daytona is told of what leads out of a sandbox. */
export interface Egress {
  readonly networkBlockAll: boolean;
  /** Separated by commas. */
  readonly networkAllowList?: string;
  readonly domainAllowList?: string;
}

/** Where packages come from: Python's and Node's. */
export const indexHosts: readonly string[] = ["pypi.org", "files.pythonhosted.org", "registry.npmjs.org"];

/**
 * What Daytona is told for a policy.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the entry
 */
export function egressOf(policy: NetworkPolicy = "none"): Egress {
  if (policy === "full") return { networkBlockAll: false };
  if (policy === "none") return { networkBlockAll: true };
  const entries = egressEntries(providerName, policy === "packages" ? indexHosts : policy.allow);
  // An empty list would be no list at all.
  if (entries.length === 0) return { networkBlockAll: true };
  const ranges = entries.flatMap((entry) => (entry.kind === "range" ? [entry.cidr] : []));
  const domains = entries.flatMap((entry) => (entry.kind === "host" ? [entry.text] : []));
  return {
    networkBlockAll: false,
    ...(ranges.length > 0 && { networkAllowList: ranges.join(",") }),
    ...(domains.length > 0 && { domainAllowList: domains.join(",") }),
  };
}
