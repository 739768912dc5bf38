import { createHash } from "node:crypto";
import type { SandboxRecord } from "@sandkit/core";

/** Names at Daytona, each there once in an organization. */

/** Of a sandbox that is shared by its name. */
export function sharedName(name: string): string {
  return name;
}

/** Of one that is its program's alone: another program may have one of that name too. */
export function ownName(name: string, owner: string): string {
  return `${name}-${createHash("sha256").update(owner).digest("hex").slice(0, 12)}`;
}

/** The name that Daytona is to give to the sandbox of a record. */
export function vendorName({ name, owner, detached, creation }: SandboxRecord): string {
  if (name === undefined) return `sandkit-${creation}`;
  return detached ? sharedName(name) : ownName(name, owner);
}
