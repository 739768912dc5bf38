import { setTimeout as pause } from "node:timers/promises";
import type { Daytona, Sandbox } from "@daytonaio/sdk";
import { SandboxError } from "@sandkit/core";
import { patiently } from "./call.js";
import { type CallContext, providerName, statusOf } from "./errors.js";
import { type DaytonaState, isBroken, isEnded, isKept } from "./states.js";

const [firstLookMs, longestLookMs] = [100, 1_000];

/** The sandbox of an id or name, as it is now; undefined when there is none. */
export async function findSandbox(
  client: Daytona,
  idOrName: string,
  operation: string,
  signal?: AbortSignal | undefined,
): Promise<Sandbox | undefined> {
  const context = { operation, subject: `sandbox ${idOrName}`, sandboxId: idOrName };
  return unlessMissing(() => patiently(context, () => client.get(idOrName), signal));
}

/** What Daytona says of a sandbox now: the object remembers an older state. Undefined when it is gone. */
export async function refreshed(
  sandbox: Sandbox,
  operation: string,
  signal?: AbortSignal | undefined,
): Promise<DaytonaState | undefined> {
  const context = contextOf(sandbox, operation);
  const found = await unlessMissing(async () => {
    await patiently(context, () => sandbox.refreshData(), signal);
    return sandbox.state;
  });
  return found === "destroyed" ? undefined : found;
}

/**
 * Waits until a sandbox is in one of the states.
 * @throws SandboxError `SANDBOX_LOST` when it will never be, `TIMEOUT`; or `signal.reason`
 */
export async function reaches(
  sandbox: Sandbox,
  wanted: readonly string[],
  {
    operation,
    withinMs,
    signal,
  }: { readonly operation: string; readonly withinMs: number; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const end = performance.now() + withinMs;
  for (let wait = firstLookMs; ; wait = Math.min(wait * 1.2, longestLookMs)) {
    const state = await refreshed(sandbox, operation, signal);
    if (state !== undefined && wanted.includes(state)) return;
    const about = { provider: providerName, operation, sandboxId: sandbox.id };
    if (state === undefined || isEnded(state) || isBroken(state)) {
      const why = sandbox.errorReason ? ` (${sandbox.errorReason})` : "";
      const message = `${operation} sandbox ${sandbox.id}: it is ${state ?? "gone"}${why}: create a new one`;
      throw new SandboxError("SANDBOX_LOST", message, about);
    }
    if (performance.now() > end) {
      const message = `${operation} sandbox ${sandbox.id}: still ${state} after ${Math.round(withinMs / 1000)} s: try again`;
      throw new SandboxError("TIMEOUT", message, about);
    }
    await pause(wait, undefined, { signal });
  }
}

/**
 * What a sandbox's state says of a connection that was not let in, which the SDK says nothing of; undefined while it
 * runs.
 */
export async function whyUnreachable(
  sandbox: Sandbox,
  operation: string,
  signal?: AbortSignal | undefined,
): Promise<SandboxError | undefined> {
  const state = await refreshed(sandbox, operation, signal);
  if (state === "started") return undefined;
  const about = { provider: providerName, operation, sandboxId: sandbox.id };
  if (isKept(state)) return new SandboxError("UNAVAILABLE", `sandbox ${sandbox.id} is ${state}: call resume()`, about);
  if (state !== undefined && !isEnded(state) && !isBroken(state)) {
    const message = `sandbox ${sandbox.id} is ${state} at Daytona: try again in a moment`;
    return new SandboxError("UNAVAILABLE", message, about);
  }
  const what = state === undefined ? "is not at Daytona any more" : `is ${state} at Daytona`;
  const why = sandbox.errorReason ? ` (${sandbox.errorReason})` : "";
  return new SandboxError("SANDBOX_LOST", `sandbox ${sandbox.id} ${what}${why}: create a new one`, about);
}

/** How errors name a sandbox. */
export function contextOf({ id }: { readonly id: string }, operation: string): CallContext {
  return { operation, subject: `sandbox ${id}`, sandboxId: id };
}

async function unlessMissing<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}
