import { isIP } from "node:net";
import type { NetworkPolicy } from "@sandkit/core";
import type { SandboxNetworkOpts, SandboxNetworkUpdate } from "e2b";
import { refusal } from "./errors.js";

/** E2B's word for everything. */
const everything = "0.0.0.0/0";

const indexHosts: readonly string[] = ["pypi.org", "files.pythonhosted.org"];

/** What leads out of a sandbox. */
export type Egress = Pick<SandboxNetworkUpdate, "allowInternetAccess"> & {
  readonly allowOut?: string[];
  readonly denyOut?: string[];
};

/**
 * What E2B is told for a policy.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the entry
 */
export function egressOf(policy: NetworkPolicy = "none", packageHosts: readonly string[] = indexHosts): Egress {
  if (policy === "full") return { allowInternetAccess: true };
  if (policy === "none") return { allowInternetAccess: false };
  const allow = policy === "packages" ? packageHosts : policy.allow;
  // An empty list of what is allowed would be no list at all.
  if (allow.length === 0) return { allowInternetAccess: false };
  return { allowOut: allow.map(checkedEntry), denyOut: [everything] };
}

/** The same for a create, with the rule for who may come in. */
export function networkOf({ allowOut, denyOut }: Egress, publicPorts: boolean): SandboxNetworkOpts {
  return { ...(allowOut && { allowOut }), ...(denyOut && { denyOut }), allowPublicTraffic: publicPorts };
}

const label = "[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?";
const hostName = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`);

function checkedEntry(entry: string): string {
  const [address = "", bits, ...rest] = entry.split("/");
  if (isIP(address) && rest.length === 0 && (bits === undefined || isPrefix(bits, address))) {
    if (isIP(address) === 4) return entry;
    throw refusal("UNSUPPORTED", `network.allow entry ${JSON.stringify(entry)}: E2B's sandboxes have IPv4 alone`);
  }
  if (/^[^:/]+:\d+$/.test(entry)) {
    const next = "leave the port out, which allows them all";
    throw refusal("UNSUPPORTED", `network.allow entry ${JSON.stringify(entry)}: E2B knows no ports: ${next}`);
  }
  if (hostName.test(entry) && !/^[\d.]+$/.test(entry)) return entry;
  throw refusal(
    "INVALID",
    `network.allow entry ${JSON.stringify(entry)}: must be a host, *.host, an IPv4 address or a range like 10.0.0.0/8`,
  );
}

function isPrefix(bits: string, address: string): boolean {
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 4 ? 32 : 128);
}
