import type { SandboxRef } from "@sandkit/core";
import { principalOf, sealHandle } from "./principal.js";

export interface GrantOptions {
  /** The name of a token, or `stdio`. */
  readonly principal: string;
  /** That of the server: `SANDKIT_SECRET`, or `secret` of its config. */
  readonly secret: string;
}

/**
 * The `sandbox_id` under which one user of a server works in a sandbox that was not made by it. The sandbox must be of
 * the server's provider and `detached`, or its owner keeps it to itself. Nobody has to be told: the id is the grant.
 */
export function grantSandbox(ref: SandboxRef, { principal, secret }: GrantOptions): string {
  return sealHandle(principalOf(principal, secret), ref.id);
}

/** The ref by which a program attaches to a sandbox of a server, from its `sandbox_id`. */
export function refOfHandle(handle: string, provider: string): SandboxRef {
  return { provider, id: handle.slice(0, handle.lastIndexOf(".")) };
}
