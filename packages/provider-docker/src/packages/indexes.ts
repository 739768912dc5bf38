import { pipIndexVariables, publicIndexHosts } from "@sandkit/core";
import type { DockerOptions } from "../options.js";

/** Variables by which pip and npm are told where their indexes are. */
const variables = [...pipIndexVariables, "PIP_TRUSTED_HOST", "npm_config_registry"] as const;

/** Where packages come from, as variables of pip and npm; empty for their own. */
export type Indexes = Readonly<Partial<Record<(typeof variables)[number], string>>>;

/** The indexes that a sandbox's environment names, else those of the provider. */
export function indexesOf(
  { packages = {} }: Pick<DockerOptions, "packages">,
  env: Readonly<Record<string, string>> = {},
): Indexes {
  const { indexUrl, npmRegistry } = packages;
  const own: Indexes = {
    ...(indexUrl !== undefined && { PIP_INDEX_URL: indexUrl }),
    // Without a certificate there is nothing to trust but its name.
    ...(indexUrl?.startsWith("http:") && { PIP_TRUSTED_HOST: new URL(indexUrl).host }),
    ...(npmRegistry !== undefined && { npm_config_registry: npmRegistry }),
  };
  const { NPM_CONFIG_REGISTRY: registry, ...rest } = env;
  const named: Readonly<Record<string, string>> = { ...(registry && { npm_config_registry: registry }), ...rest };
  return { ...own, ...Object.fromEntries(variables.flatMap((name) => (named[name] ? [[name, named[name]]] : []))) };
}

/**
 * Addresses and hosts of the provider's own indexes, which may lie in a private network; empty for the public ones.
 * Whoever names an index of one language has not named one of the other.
 */
export function ownIndexes({ packages = {}, packageHosts = [] }: DockerOptions): readonly string[] {
  const { indexUrl, npmRegistry } = packages;
  const own = [...packageHosts, indexUrl, npmRegistry].filter((each) => each !== undefined);
  if (own.length === 0 || packageHosts.length > 0) return own;
  return [...own, ...(indexUrl ? [] : publicIndexHosts.python), ...(npmRegistry ? [] : publicIndexHosts.node)];
}
