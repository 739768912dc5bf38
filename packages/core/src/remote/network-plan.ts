import { indexUrls, pipIndexVariables, publicIndexHosts } from "../network/package-indexes.js";
import type { CreateOptions, NetworkPolicy } from "../options.js";

/** What a machine may reach: nothing, everything, or a list. */
export type Reach = "none" | "full" | { readonly allow: readonly string[] };

/** What a machine may reach at first, and for its life. */
export interface NetworkPlan {
  /** While its packages are installed. */
  readonly atFirst: Reach;
  readonly forLife: Reach;
  /** Whether both differ. */
  readonly narrows: boolean;
}

/**
 * What a create may reach at a vendor whose machines install packages themselves, by pip: the indexes that its
 * environment names for pip and those of the provider, else the public ones, for that time.
 */
export function networkPlan(
  { network = "none", env = {}, packages = [] }: Pick<CreateOptions, "network" | "env" | "packages">,
  ownHosts: readonly string[] = [],
): NetworkPlan {
  const named = [...ownHosts, ...hostsOfPip(env)];
  const hosts = named.length > 0 ? named : Object.values(publicIndexHosts).flat();
  const forLife = reachOf(network, hosts);
  const narrows = packages.length > 0 && network !== "full" && network !== "packages";
  return { forLife, atFirst: narrows ? withHosts(forLife, hosts) : forLife, narrows };
}

function reachOf(policy: NetworkPolicy, hosts: readonly string[]): Reach {
  const reach = policy === "packages" ? { allow: hosts } : policy;
  // An empty list of what is allowed would be no list at all to a vendor.
  return typeof reach === "object" && reach.allow.length === 0 ? "none" : reach;
}

function withHosts(reach: Reach, hosts: readonly string[]): Reach {
  return { allow: typeof reach === "object" ? [...reach.allow, ...hosts] : hosts };
}

/** Hosts of the indexes that the environment of a sandbox names for pip. */
function hostsOfPip(env: Readonly<Record<string, string>>): string[] {
  return indexUrls(env, pipIndexVariables).map(({ hostname }) => hostname);
}
