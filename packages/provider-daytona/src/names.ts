import { createHash } from "node:crypto";
import type { SandboxRecord } from "@sandkit/core/kit";

/**
 * What a name may be at Daytona, where it is there once in an organization: as it is for a sandbox that is shared, with
 * a hash of its program for one that is its program's alone.
 */
export function vendorNames(name: string, owner: string): { readonly shared: string; readonly own: string } {
  return { shared: name, own: `${name}-${createHash("sha256").update(owner).digest("hex").slice(0, 12)}` };
}

/** The name that Daytona is to give to the sandbox of a record. */
export function vendorName({ name, owner, detached, creation }: SandboxRecord): string {
  if (name === undefined) return `sandkit-${creation}`;
  const { shared, own } = vendorNames(name, owner);
  return detached ? shared : own;
}
