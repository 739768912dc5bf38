import { net } from "../builtins.js";
import type { NetworkPolicy } from "../options.js";
import type { EgressPolicy } from "./egress-policy.js";
import { isPublicAddress } from "./public-address.js";
import { entryFor, isLocalName, targetOf } from "./target.js";

/** Hosts that packages come from where nobody names another index, by language. */
export const publicIndexHosts = {
  python: ["pypi.org", "files.pythonhosted.org"],
  node: ["registry.npmjs.org"],
} as const;
/** By which pip is told of an index in the place of the public one, and of such besides. */
export const pipIndexVariables = ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"] as const;
const [pipIndex, pipExtraIndex] = pipIndexVariables;
/** Variables that name an index in the place of the public one, and such that name one besides. */
const variables = {
  python: {
    instead: [pipIndex, "UV_INDEX_URL", "UV_DEFAULT_INDEX"],
    besides: [pipExtraIndex, "UV_EXTRA_INDEX_URL", "UV_INDEX"],
  },
  node: { instead: ["NPM_CONFIG_REGISTRY", "npm_config_registry"], besides: [] },
} as const;

/** What decides where packages come from. */
export interface PackageIndexes {
  /** Addresses or hosts of the provider's own indexes, in the place of the public ones. They may lie in a private network. */
  readonly indexes?: readonly string[] | undefined;
  /** Of the sandbox. The indexes that it names to pip, uv and npm may be asked where they are public. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** What the proxy of a sandbox with this policy allows; undefined where it needs none, because nothing is allowed. */
export function egressPolicyOf(network: NetworkPolicy, where: PackageIndexes = {}): EgressPolicy | undefined {
  if (network === "none") return undefined;
  const inner = (where.indexes ?? []).map(indexEntry);
  if (network === "full") return { allow: "public", inner };
  if (network === "packages") return { allow: indexesOf(where.env ?? {}, inner.length > 0), inner };
  return network.allow.length === 0 ? undefined : { allow: network.allow };
}

/** The addresses that an environment gives of indexes for these programs. */
export function indexUrls(env: Readonly<Record<string, string>>, names: readonly string[]): URL[] {
  const texts = names.flatMap((name) => env[name]?.split(/\s+/) ?? []);
  // Of uv, one may have a name before it.
  const urls = texts.map((text) => text.replace(/^[\w-]+=(?=https?:)/, "")).filter((text) => URL.canParse(text));
  return urls.map((text) => new URL(text)).filter(({ protocol }) => /^https?:$/.test(protocol));
}

function indexesOf(env: Readonly<Record<string, string>>, hasOwn: boolean): string[] {
  const found = Object.entries(variables).flatMap(([language, { instead, besides }]) => {
    const named = indexUrls(env, instead);
    const usual = hasOwn || named.length > 0 ? [] : publicIndexHosts[language as keyof typeof publicIndexHosts];
    return [...usual, ...[...named, ...indexUrls(env, besides)].flatMap(publicEntry)];
  });
  return [...new Set(found)];
}

/** What a sandbox is given as its environment opens no way into the network of whoever runs it. */
function publicEntry(url: URL): string[] {
  const target = targetOf(url);
  const isPublic = net().isIP(target.host) === 0 ? !isLocalName(target.host) : isPublicAddress(target.host);
  return isPublic ? [entryFor(target)] : [];
}

function indexEntry(text: string): string {
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? entryFor(targetOf(new URL(text))) : text;
}
