import type { PortInfo } from "@sandkit/core";
import type { Sandbox } from "e2b";

const tokenHeader = "e2b-traffic-access-token";

/** What E2B's edge wants to see of who comes to a sandbox whose ports are not public. */
export function tokenOf({ trafficAccessToken }: Sandbox): Record<string, string> {
  return trafficAccessToken ? { [tokenHeader]: trafficAccessToken } : {};
}

/**
 * The address of a port.
 * @param sandboxUrl Where E2B, or what stands for it, reaches sandboxes at one address for all.
 */
export function addressOf(sandbox: Sandbox, port: number, sandboxUrl: string | undefined): PortInfo {
  const token = tokenOf(sandbox);
  if (!sandboxUrl) return { url: `https://${sandbox.getHost(port)}`, headers: token };
  const place = { "E2b-Sandbox-Id": sandbox.sandboxId, "E2b-Sandbox-Port": String(port) };
  return { url: sandboxUrl, headers: { ...place, ...token } };
}
