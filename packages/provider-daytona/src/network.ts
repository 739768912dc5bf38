import { isIP } from "node:net";
import type { NetworkPolicy } from "@sandkit/core";
import { refusal } from "./errors.js";

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
  const entries = (policy === "packages" ? indexHosts : policy.allow).map(checkedEntry);
  // An empty list would be no list at all.
  if (entries.length === 0) return { networkBlockAll: true };
  const ranges = entries.filter(({ kind }) => kind === "range").map(({ text }) => text);
  const domains = entries.filter(({ kind }) => kind === "domain").map(({ text }) => text);
  return {
    networkBlockAll: false,
    ...(ranges.length > 0 && { networkAllowList: ranges.join(",") }),
    ...(domains.length > 0 && { domainAllowList: domains.join(",") }),
  };
}

const label = "[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?";
const hostName = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`);

function checkedEntry(entry: string): { readonly kind: "range" | "domain"; readonly text: string } {
  const named = `network.allow entry ${JSON.stringify(entry)}`;
  const [address = "", bits, ...rest] = entry.split("/");
  if (isIP(address) && rest.length === 0 && (bits === undefined || isPrefix(bits, address))) {
    if (isIP(address) === 6) throw refusal("UNSUPPORTED", `${named}: Daytona's lists have IPv4 alone`);
    return { kind: "range", text: `${address}/${bits ?? 32}` };
  }
  if (/^[^:/]+:\d+$/.test(entry)) {
    throw refusal("UNSUPPORTED", `${named}: Daytona's lists know no ports: leave the port out, which allows them all`);
  }
  if (hostName.test(entry) && !/^[\d.]+$/.test(entry)) return { kind: "domain", text: entry };
  throw refusal("INVALID", `${named}: must be a host, *.host, an IPv4 address or a range like 10.0.0.0/8`);
}

function isPrefix(bits: string, address: string): boolean {
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128);
}
