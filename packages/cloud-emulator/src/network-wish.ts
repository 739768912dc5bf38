import type { CreateOptions, NetworkPolicy, Provider } from "@sandkit/core";
import type { CloudOptions } from "./cloud-options.js";

/**
 * The provider's option for a network that a client wishes for: what it can enforce is enforced, and what it cannot is
 * refused or, where that was chosen, left to be recorded.
 * @returns The option, or what is missing, in words.
 */
export function networkOption(
  options: CloudOptions,
  wish: NetworkPolicy,
): { readonly network?: CreateOptions["network"] } | { readonly missing: string } {
  const { provider } = options;
  const feature = featureOf(wish);
  if (provider.capabilities.features[feature]) return { network: wish };
  if (options.network === "record") return {};
  return { missing: missing(provider, feature) };
}

function featureOf(wish: NetworkPolicy): "network.none" | "network.full" | "network.allowlist" {
  if (wish === "none") return "network.none";
  return wish === "full" ? "network.full" : "network.allowlist";
}

function missing(provider: Provider, feature: string): string {
  return `provider "${provider.name}" does not have "${feature}": start the emulator with network: "record" to have the wish recorded without being enforced`;
}
