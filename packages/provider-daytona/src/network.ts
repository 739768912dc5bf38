import { egressEntries, type Reach } from "@sandkit/core";
import { providerName } from "./errors.js";

/** What Daytona is told of what leads out of a sandbox. */
export interface Egress {
  readonly networkBlockAll: boolean;
  /** Separated by commas. */
  readonly networkAllowList?: string;
  readonly domainAllowList?: string;
}

/**
 * What Daytona is told of what may be reached.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the entry
 */
export function egressOf(reach: Reach): Egress {
  if (typeof reach === "string") return { networkBlockAll: reach === "none" };
  const entries = egressEntries(providerName, reach.allow);
  const ranges = entries.flatMap((entry) => (entry.kind === "range" ? [entry.cidr] : []));
  const domains = entries.flatMap((entry) => (entry.kind === "host" ? [entry.text] : []));
  return {
    networkBlockAll: false,
    ...(ranges.length > 0 && { networkAllowList: ranges.join(",") }),
    ...(domains.length > 0 && { domainAllowList: domains.join(",") }),
  };
}
