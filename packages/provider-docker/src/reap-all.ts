import type { ReapOptions, SandboxRef } from "@sandkit/core";
import { Sweep } from "@sandkit/core/kit";
import type { EngineClient } from "./engine/client.js";
import { providerName } from "./errors.js";
import { removeUnusedSets } from "./packages/unused-sets.js";
import { reapContainers } from "./reaper.js";
import { sweepSnapshots } from "./snapshots.js";

/**
 * Removes what nobody needs any more on an engine: containers, images of snapshots and of sets of packages.
 * @throws SandboxError once all were tried, with what could not be removed
 */
export async function reapAll(engine: EngineClient, options: ReapOptions): Promise<SandboxRef[]> {
  const sweep = new Sweep(providerName, options);
  await sweep.attempt("containers", () => reapContainers(engine, options, sweep));
  if (!options.dryRun) await sweep.attempt("snapshots", () => sweepSnapshots(engine, sweep));
  await sweep.attempt("sets of packages", () => removeUnusedSets(engine, options, sweep));
  return sweep.end();
}

/** What died owners left: swept once by each provider, before its first sandbox. */
export async function reapDead(engine: EngineClient): Promise<void> {
  const sweep = new Sweep(providerName);
  await Promise.all([
    sweep.attempt("containers", () => reapContainers(engine, { olderThanMs: 0 }, sweep)),
    sweep.attempt("snapshots", () => sweepSnapshots(engine, sweep)),
  ]);
  sweep.end();
}
