import { decodeRecord, ownerState, type ReapOptions, type SandboxRef } from "@sandkit/core";
import type { E2BClient } from "./client.js";
import { providerName } from "./errors.js";
import { managed } from "./marks.js";

/**
 * Ends what lost its owner, one after another; never what a living program holds, nor one that was meant to be left
 * alone: E2B ends a detached one when its lease is over, and a paused one is kept on purpose.
 */
export async function reapSandboxes(client: E2BClient, options: ReapOptions): Promise<SandboxRef[]> {
  const reaped: SandboxRef[] = [];
  for await (const { sandboxId, metadata } of client.list(managed, "reap")) {
    const record = decodeRecord(metadata);
    if (!record || record.detached || Date.now() - record.createdAt.getTime() < options.olderThanMs) continue;
    if ((await ownerState(record.owner)) !== "dead") continue;
    if (!options.dryRun) await client.kill(sandboxId, "reap");
    reaped.push({ provider: providerName, id: sandboxId });
  }
  return reaped;
}
