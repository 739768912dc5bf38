import { setTimeout as pause } from "node:timers/promises";
import { type PortInfo, SandboxError } from "@sandkit/core";
import type { Sandbox } from "e2b";
import { providerName } from "./errors.js";

const tokenHeader = "e2b-traffic-access-token";
const betweenLooksMs = 100;
const lookMs = 5_000;

/** Where E2B, or what stands for it, reaches sandboxes at one address for all. */
export interface SharedAddress {
  readonly sandboxUrl?: string | undefined;
}

/** What E2B's edge wants to see of who comes to a sandbox whose ports are not public. */
export function tokenOf({ trafficAccessToken }: Sandbox): Record<string, string> {
  return trafficAccessToken ? { [tokenHeader]: trafficAccessToken } : {};
}

/** The address of a port, waiting for somebody to listen there for as long as is wanted. */
export async function portOf(
  sandbox: Sandbox,
  port: number,
  { sandboxUrl }: SharedAddress,
  waitMs = 0,
): Promise<PortInfo> {
  const { sandboxId } = sandbox;
  const token = tokenOf(sandbox);
  const info: PortInfo = sandboxUrl
    ? { url: sandboxUrl, headers: { "E2b-Sandbox-Id": sandboxId, "E2b-Sandbox-Port": String(port), ...token } }
    : { url: `https://${sandbox.getHost(port)}`, headers: token };
  if (waitMs > 0) await untilOpen(info, port, sandboxId, waitMs);
  return info;
}

async function untilOpen(info: PortInfo, port: number, sandboxId: string, waitMs: number): Promise<void> {
  const end = performance.now() + waitMs;
  while (!(await isOpen(info))) {
    if (performance.now() < end) {
      await pause(betweenLooksMs);
      continue;
    }
    const next = "check that the server listens on 0.0.0.0, or wait longer (waitMs)";
    throw new SandboxError("UNAVAILABLE", `port ${port}: nobody listened there within ${waitMs} ms: ${next}`, {
      provider: providerName,
      operation: "port",
      sandboxId,
    });
  }
}

/** E2B's edge answers 502 for a port on which nobody listens. */
async function isOpen({ url, headers }: PortInfo): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: "HEAD",
      redirect: "manual",
      headers: { ...headers },
      signal: AbortSignal.timeout(lookMs),
    });
    await response.body?.cancel();
    return response.status !== 502;
  } catch {
    // Not reached yet, whatever the reason: the caller gives up when the time is over.
    return false;
  }
}
