import { ownerState } from "../owner.js";
import type { ReapOptions, SandboxRef } from "../provider.js";
import type { Fleet } from "./cloud.js";
import type { Machine } from "./machine.js";

/**
 * Removes what lost its owner, one after another; never what a living program holds, nor a shared one, which its vendor
 * ends when its lease is over, or which rests for somebody who will come.
 */
export async function reapMachines<Found extends Machine>(
  fleet: Fleet<Found>,
  { olderThanMs, dryRun }: ReapOptions,
): Promise<SandboxRef[]> {
  const reaped: SandboxRef[] = [];
  for await (const found of fleet.list({}, "reap")) {
    if (!(await isOrphan(found, olderThanMs))) continue;
    if (!dryRun) await fleet.remove(found, "reap");
    reaped.push({ provider: fleet.provider, id: found.id });
  }
  return reaped;
}

/** Of an owner on another machine nothing is known here: the vendor ends it. */
async function isOrphan({ record, state }: Machine, olderThanMs: number): Promise<boolean> {
  if (!record || state === "gone" || Date.now() - record.createdAt.getTime() < olderThanMs) return false;
  if (record.detached && state !== "broken") return false;
  return (await ownerState(record.owner)) === "dead";
}
