import type { Daytona, Sandbox } from "@daytonaio/sdk";
import { ownerState, type ReapOptions, type SandboxRef } from "@sandkit/core";
import { providerName } from "./errors.js";
import { type DaytonaRecord, recordOf } from "./labels.js";
import { listSandboxes } from "./list.js";
import { removeSandbox } from "./removal.js";
import { isBroken, isEnded } from "./states.js";

/** Removes what lost its owner, one after another; never what a living program holds. */
export async function reapSandboxes(client: Daytona, options: ReapOptions): Promise<SandboxRef[]> {
  const reaped: SandboxRef[] = [];
  for await (const sandbox of listSandboxes(client, "reap")) {
    const record = recordOf(sandbox.labels);
    if (!record || Date.now() - record.createdAt.getTime() < options.olderThanMs) continue;
    if (!(await isOrphan(sandbox, record))) continue;
    if (!options.dryRun) await removeSandbox(sandbox);
    reaped.push({ provider: providerName, id: sandbox.id });
  }
  return reaped;
}

/** Of an owner on another machine nothing is known here: Daytona ends it, by its time to live. */
async function isOrphan({ state }: Sandbox, { owner, detached }: DaytonaRecord): Promise<boolean> {
  if (isEnded(state) || (await ownerState(owner)) !== "dead") return false;
  // Whoever made a detached one may well be dead. It ends by its lease, or was paused for somebody who will come.
  return isBroken(state) || !detached;
}
