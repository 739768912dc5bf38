import { egressEntries, type NetworkPolicy } from "@sandkit/core";
import type { SandboxNetworkOpts, SandboxNetworkUpdate } from "e2b";
import { providerName } from "./errors.js";

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
  return { allowOut: egressEntries(providerName, allow).map(({ text }) => text), denyOut: [everything] };
}

/** The same for a create, with the rule for who may come in. */
export function networkOf({ allowOut, denyOut }: Egress, publicPorts: boolean): SandboxNetworkOpts {
  return { ...(allowOut && { allowOut }), ...(denyOut && { denyOut }), allowPublicTraffic: publicPorts };
}
