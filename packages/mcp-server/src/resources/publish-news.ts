import type { LiveRun } from "../runs/live-run.js";
import { fileUri, logStreams, logUri } from "./links.js";
import type { ResourceChanges } from "./resource-changes.js";

/** Tells what a run changes: its logs while it writes, and at its end the files that it left. */
export function publishNews(run: LiveRun, changes: ResourceChanges): void {
  for (const stream of logStreams) changes.publish(logUri(run.id, stream));
  const { outcome } = run;
  if (outcome === undefined || "error" in outcome) return;
  const { handle, result } = outcome.used;
  for (const { path } of result.changed) changes.publish(fileUri(handle, path));
}
