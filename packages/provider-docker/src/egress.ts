import { AllowList, type EgressPolicy, egressPolicyOf, type NetworkPolicy, type SandboxInfo } from "@sandkit/core";
import { refusal } from "./errors.js";

/** Where in a box the agent listens for what is to go out. */
export const egressPort = 3128;

/**
 * What the programs of a sandbox may be connected with; undefined for nothing. `packages`: the indexes of the provider
 * and the public ones that the environment names, else those of PyPI and npm.
 * @throws SandboxError `INVALID`, naming the entry
 */
export function egressOf(
  network: NetworkPolicy,
  env: Readonly<Record<string, string>>,
  packageHosts: readonly string[] = [],
): EgressPolicy | undefined {
  const policy = egressPolicyOf(network, { env, indexes: packageHosts });
  if (policy && policy.allow !== "public") checkEntries(policy.allow, "network.allow");
  checkEntries(policy?.inner ?? [], "packageHosts");
  return policy;
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
export function shownNetwork(egress: EgressPolicy | undefined): SandboxInfo["network"] {
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
