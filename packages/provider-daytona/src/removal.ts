import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "@daytonaio/sdk";
import { SandboxError } from "@sandkit/core";
import { waitBefore } from "@sandkit/core/kit";
import { onDaytona, requestTimeoutMs } from "./call.js";
import { isPassing, providerName, retryAfterOf, statusOf } from "./errors.js";
import { contextOf, refreshed } from "./find.js";
import { isEnded } from "./states.js";

const goneWithinMs = 60_000;
const [firstLookMs, longestLookMs] = [50, 1_000];

/**
 * Removes a sandbox and waits until it is gone. One that is not there, or that is being removed, is fine.
 * @throws SandboxError `UNAVAILABLE` when it may still exist, `AUTH`
 */
export async function removeSandbox(sandbox: Sandbox): Promise<void> {
  const end = performance.now() + goneWithinMs;
  let state = sandbox.state;
  for (let wait = firstLookMs; ; wait = Math.min(2 * wait, longestLookMs)) {
    // Asked for again as long as nothing comes of it: while its state changes, Daytona refuses.
    if (!isEnded(state) && !(await askForRemoval(sandbox, end))) return;
    state = await refreshed(sandbox, "destroy");
    if (state === undefined) return;
    if (performance.now() > end) {
      const message = `destroy sandbox ${sandbox.id}: Daytona still has it (${state}) after ${goneWithinMs / 1000} s: try again, or remove it at https://app.daytona.io/dashboard`;
      throw new SandboxError("UNAVAILABLE", message, {
        provider: providerName,
        operation: "destroy",
        sandboxId: sandbox.id,
      });
    }
    await pause(wait);
  }
}

/** False when there is nothing to remove. */
async function askForRemoval(sandbox: Sandbox, end: number): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await onDaytona(contextOf(sandbox, "destroy"), () => sandbox.delete(requestTimeoutMs / 1000, false));
      return true;
    } catch (error) {
      const status = statusOf(error);
      if (status === 404 || status === 410) return false;
      // What is being done with it now may be its removal: its state tells.
      if (status === 409) return true;
      const waitMs = waitBefore(attempt, retryAfterOf(error));
      if (!isPassing(error) || performance.now() + waitMs > end) throw error;
      await pause(waitMs);
    }
  }
}
