import type { Sandbox } from "@daytonaio/sdk";
import { SandboxError } from "@sandkit/core";
import { patiently } from "./call.js";
import { isPassing } from "./errors.js";
import { contextOf, reaches, refreshed } from "./find.js";
import { minutesOf } from "./minutes.js";
import { isChanging, isKept, settled } from "./states.js";

/** How long a change of a sandbox's state may take, in milliseconds. */
export const changeWithinMs = 120_000;

/** Starts what is stopped or paused; one that is started already is fine. One that is not started rests on as long. */
export async function resumeSandbox(sandbox: Sandbox, leaseMs: number, signal?: AbortSignal): Promise<void> {
  const context = contextOf(sandbox, "resume");
  await refreshed(sandbox, "resume", signal);
  const { autoDestroyAt } = sandbox;
  try {
    // Before it runs: what ends it must not be the end of its rest.
    await patiently(context, () => sandbox.setTtl(minutesOf(leaseMs)), signal);
    await change(sandbox, "resume", () => sandbox.start(changeWithinMs / 1000), "started", signal);
  } catch (error) {
    // Why it was not resumed counts more than that its rest could not be given back.
    await restUntil(sandbox, autoDestroyAt).catch(() => undefined);
    throw error;
  }
}

async function restUntil(sandbox: Sandbox, end: string | undefined): Promise<void> {
  if (end === undefined || !isKept(await refreshed(sandbox, "resume"))) return;
  const restMs = new Date(end).getTime() - Date.now();
  await patiently(contextOf(sandbox, "resume"), () => sandbox.setTtl(minutesOf(restMs)));
}

/** Stops a sandbox, or pauses a virtual machine. Until it is resumed it is kept for so long. */
export async function pauseSandbox(sandbox: Sandbox, isVirtualMachine: boolean, pausedMs: number): Promise<void> {
  await patiently(contextOf(sandbox, "pause"), () => sandbox.setTtl(minutesOf(pausedMs)));
  if (isVirtualMachine) await change(sandbox, "pause", () => sandbox.pause(changeWithinMs / 1000), "paused");
  else await change(sandbox, "pause", () => sandbox.stop(changeWithinMs / 1000), "stopped");
}

/** Makes a change that Daytona may have made already, whatever its answer was: its state tells. */
async function change(
  sandbox: Sandbox,
  operation: string,
  ask: () => Promise<void>,
  wanted: "started" | "stopped" | "paused",
  signal?: AbortSignal,
): Promise<void> {
  const context = contextOf(sandbox, operation);
  const isThere = async () => (await refreshed(sandbox, operation, signal)) === wanted;
  if (await isThere()) return;
  if (isChanging(sandbox.state)) {
    await reaches(sandbox, settled, { operation, withinMs: changeWithinMs, signal });
    if (sandbox.state === wanted) return;
  }
  try {
    await patiently(context, ask, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof SandboxError) || !(error.code === "CONFLICT" || isPassing(error))) throw error;
    // Something else is being done with it, or the answer was lost: perhaps just this.
    if (await isThere()) return;
    if (!isChanging(sandbox.state)) throw error;
  }
  await reaches(sandbox, [wanted], { operation, withinMs: changeWithinMs, signal });
}
