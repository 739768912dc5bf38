import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Daytona, Sandbox } from "@daytonaio/sdk";
import { SandboxError, type SnapshotInfo } from "@sandkit/core";
import { onDaytona, patiently } from "./call.js";
import { providerName } from "./errors.js";
import { contextOf } from "./find.js";

const withinMs = 10 * 60_000;
const [firstLookMs, longestLookMs] = [200, 2_000];

/** Saves the files of a sandbox under a name, and waits until others can start from them. */
export async function takeSnapshot(
  client: Daytona,
  sandbox: Sandbox,
  name = `sandkit-${randomUUID()}`,
): Promise<SnapshotInfo> {
  const context = { ...contextOf(sandbox, "snapshot"), subject: `"${name}" of sandbox ${sandbox.id}` };
  await onDaytona(context, () => sandbox.createSnapshot(name, withinMs / 1000));
  const end = performance.now() + withinMs;
  for (let wait = firstLookMs; ; wait = Math.min(wait * 1.5, longestLookMs)) {
    const { state, errorReason } = await patiently(context, () => client.snapshot.get(name));
    if (state === "active") return { id: name };
    const failed = state === "error" || state === "build_failed";
    if (failed || performance.now() > end) {
      const why = errorReason ? ` (${errorReason})` : "";
      const message = `snapshot ${context.subject}: it is ${state}${why}: try again under another name`;
      throw new SandboxError(failed ? "UNAVAILABLE" : "TIMEOUT", message, {
        provider: providerName,
        operation: "snapshot",
        sandboxId: sandbox.id,
      });
    }
    await pause(wait);
  }
}
