import { egressEntries, type Reach } from "@sandkit/core";
import type { SandboxNetworkOpts, SandboxNetworkUpdate } from "e2b";
import { providerName } from "./errors.js";

/** E2B's word for everything. */
const everything = "0.0.0.0/0";

/** What leads out of a sandbox. */
export type Egress = Pick<SandboxNetworkUpdate, "allowInternetAccess"> & {
  readonly allowOut?: string[];
  readonly denyOut?: string[];
};

/**
 * What E2B is told of what may be reached.
 * @throws SandboxError `INVALID` or `UNSUPPORTED`, naming the entry
 */
export function egressOf(reach: Reach): Egress {
  if (typeof reach === "string") return { allowInternetAccess: reach === "full" };
  return { allowOut: egressEntries(providerName, reach.allow).map(({ text }) => text), denyOut: [everything] };
}

/** The same for a create, with the rule for who may come in. */
export function networkOf({ allowOut, denyOut }: Egress, publicPorts: boolean): SandboxNetworkOpts {
  return { ...(allowOut && { allowOut }), ...(denyOut && { denyOut }), allowPublicTraffic: publicPorts };
}
