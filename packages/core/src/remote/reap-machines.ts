import { ownerState } from "../owner.js";
import type { ReapOptions, SandboxRef } from "../provider.js";
import { Sweep } from "../sweep.js";
import type { Fleet } from "./cloud.js";
import type { Machine } from "./machine.js";

/**
 * Removes what lost its owner, one after another; never what a living program holds, nor a shared one, which its vendor
 * ends when its lease is over, or which rests for somebody who will come.
 */
export async function reapMachines<Found extends Machine>(
  fleet: Fleet<Found>,
  options: ReapOptions,
): Promise<SandboxRef[]> {
  const sweep = new Sweep(fleet.provider, options);
  await sweep.attempt(`machines at ${fleet.vendor}`, async () => {
    for await (const found of fleet.list({}, "reap")) {
      if (await isOrphan(found, options.olderThanMs)) await sweep.remove(found.id, () => fleet.remove(found, "reap"));
    }
  });
  return sweep.end();
}

/** Of an owner on another machine nothing is known here: the vendor ends it. */
async function isOrphan({ record, state }: Machine, olderThanMs: number): Promise<boolean> {
  if (!record || state === "gone" || Date.now() - record.createdAt.getTime() < olderThanMs) return false;
  if (record.detached && state !== "broken") return false;
  return (await ownerState(record.owner)) === "dead";
}
