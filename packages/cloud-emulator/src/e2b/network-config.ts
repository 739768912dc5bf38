import type { NetworkPolicy } from "@sandkit/core";
import type { Api } from "./api-types.js";

const everything: readonly string[] = ["0.0.0.0/0", "::/0"];

/** What a network configuration of E2B asks for, in our words. */
export function networkWish(
  allowInternetAccess: boolean | undefined,
  network: Api["SandboxNetworkConfig"] | Api["SandboxNetworkUpdateConfig"] | undefined,
): NetworkPolicy {
  const { allowOut = [], denyOut = [] } = network ?? {};
  const closed = allowInternetAccess === false || denyOut.some((target) => everything.includes(target));
  if (closed) return allowOut.length > 0 ? { allow: allowOut } : "none";
  // Some targets denied out of all: nearest is a list, which no provider has for that.
  return denyOut.length > 0 ? { allow: [] } : "full";
}
