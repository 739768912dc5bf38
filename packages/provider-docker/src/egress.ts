import { AllowList, type NetworkPolicy, type SandboxInfo } from "@sandkit/core";
import { refusal } from "./errors.js";

/** What the programs of a sandbox may be connected with. Stored with it, for those that attach. */
export interface Egress {
  readonly allow: readonly string[] | "public";
  /** Of the provider's own indexes, which may lie in a private network. */
  readonly inner?: readonly string[] | undefined;
}

/** Where in a box the agent listens for what is to go out. */
export const egressPort = 3128;
/** The public indexes of pip and of npm, each with the variables in which they are told of others. */
const indexes = [
  {
    hosts: ["pypi.org", "files.pythonhosted.org"],
    variables: ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX"],
  },
  { hosts: ["registry.npmjs.org"], variables: ["npm_config_registry", "NPM_CONFIG_REGISTRY"] },
] as const;

/**
 * What a policy comes to; undefined for nothing. `packages`: the indexes that the environment names and those of the
 * provider, else the public ones.
 * @throws SandboxError `INVALID`, naming the entry
 */
export function egressOf(
  policy: NetworkPolicy,
  env: Readonly<Record<string, string>>,
  packageHosts: readonly string[] = [],
): Egress | undefined {
  if (policy === "none") return undefined;
  if (policy === "full") return { allow: "public" };
  if (policy === "packages") {
    const named = indexes.map(({ variables }) => hostsIn(env, variables));
    const inner = [...new Set([...packageHosts, ...named.flat()])];
    checkEntries(inner, "packageHosts");
    // Whoever names an index of one kind has not named one of the other.
    const allow = packageHosts.length > 0 ? [] : indexes.flatMap(({ hosts }, at) => (named[at]?.length ? [] : hosts));
    return { allow, ...(inner.length > 0 && { inner }) };
  }
  checkEntries(policy.allow, "network.allow");
  return policy.allow.length === 0 ? undefined : { allow: policy.allow };
}

function hostsIn(env: Readonly<Record<string, string>>, variables: readonly string[]): string[] {
  const urls = variables.flatMap((name) => env[name]?.split(/\s+/) ?? []);
  return urls.flatMap((url) => (URL.canParse(url) ? [new URL(url).host] : []));
}

function checkEntries(entries: readonly string[], option: string): void {
  for (const entry of entries) {
    try {
      new AllowList([entry]);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw refusal("INVALID", `option "${option}": ${error.message}`);
    }
  }
}

/** As it is told to who uses the sandbox. */
export function shownNetwork(egress: Egress | undefined): SandboxInfo["network"] {
  if (!egress) return "none";
  return egress.allow === "public" ? "full" : { allow: [...egress.allow, ...(egress.inner ?? [])] };
}

const proxy = `http://127.0.0.1:${egressPort}`;
const direct = "localhost,127.0.0.1,::1";

/**
 * What makes clients go the way that there is, without being told.
 * @param preload Path of the module that older Node needs for that.
 */
export function egressEnvironment(preload: string): Record<string, string> {
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    NO_PROXY: direct,
    http_proxy: proxy,
    https_proxy: proxy,
    no_proxy: direct,
    NODE_USE_ENV_PROXY: "1",
    NODE_OPTIONS: `--require=${preload}`,
  };
}
