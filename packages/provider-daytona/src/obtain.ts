import { setTimeout as pause } from "node:timers/promises";
import type { CreateSandboxFromImageParams, CreateSandboxFromSnapshotParams, Daytona, Sandbox } from "@daytonaio/sdk";
import { SandboxError } from "@sandkit/core";
import { onDaytona, waitBefore } from "./call.js";
import { isPassing, providerName, statusOf } from "./errors.js";
import { findSandbox, reaches } from "./find.js";
import { recordOf } from "./labels.js";
import { removeSandbox } from "./removal.js";
import { isBroken, isEnded } from "./states.js";

/** What Daytona is asked for. Its name is there once: what became of a lost answer is found by it. */
export type CreateParams = (CreateSandboxFromSnapshotParams | CreateSandboxFromImageParams) & {
  readonly name: string;
};

/** How a sandbox is asked for. */
export interface Order {
  readonly params: CreateParams;
  /** The one that its labels have. */
  readonly creation: string;
  readonly withinMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A sandbox that runs: the one that was asked for, or the one that had its name. */
export interface Obtained {
  readonly sandbox: Sandbox;
  readonly isOurs: boolean;
}

const mostTries = 5;
const busyNameMs = 250;

/**
 * Makes a sandbox, or finds who has its name. On failure and on abort nothing of ours is left.
 * @throws SandboxError as Daytona's answer fits; or `signal.reason`
 */
export async function obtainSandbox(client: Daytona, order: Order): Promise<Obtained> {
  const { params, signal, withinMs } = order;
  const end = performance.now() + withinMs;
  for (let attempt = 1; ; attempt += 1) {
    const leftMs = Math.max(1_000, end - performance.now());
    const asking = ask(client, params, leftMs);
    try {
      const context = { operation: "create", subject: `sandbox ${params.name}` };
      return { sandbox: await onDaytona(context, () => asking, signal), isOurs: true };
    } catch (error) {
      // The request goes on though nobody waits for it.
      if (signal?.aborted) {
        await removeLate(client, order, asking);
        throw signal.reason;
      }
      const found = await whatBecameOfIt(client, order, error, attempt);
      if (found) return found;
      if (performance.now() > end) throw error;
      await pause(statusOf(error) === 409 ? busyNameMs : waitBefore(attempt, error), undefined, { signal });
    }
  }
}

function ask(client: Daytona, params: CreateParams, withinMs: number): Promise<Sandbox> {
  const options = { timeout: Math.ceil(withinMs / 1000) };
  // The SDK writes into what it is given.
  const own = { ...params, labels: { ...params.labels } };
  return "image" in own ? client.create(own, options) : client.create(own, options);
}

/** After a failure: the sandbox all the same, undefined where it is to be asked for again, or the error. */
async function whatBecameOfIt(
  client: Daytona,
  order: Order,
  error: unknown,
  attempt: number,
): Promise<Obtained | undefined> {
  const { params, signal, creation } = order;
  const isTaken = statusOf(error) === 409;
  const found = await findSandbox(client, params.name, "create", signal);
  if (found && recordOf(found.labels)?.creation === creation) {
    if (isTaken || isPassing(error)) return { sandbox: await finish(found, order), isOurs: true };
    await removeSandbox(found);
    throw error;
  }
  if (found && isTaken) {
    if (isEnded(found.state)) return undefined;
    if (!isBroken(found.state)) return { sandbox: found, isOurs: false };
    throw brokenName(params.name, found);
  }
  if ((isTaken || isPassing(error)) && attempt < mostTries) return undefined;
  throw error;
}

/** The answer was lost, the sandbox was not. */
async function finish(sandbox: Sandbox, { withinMs, signal }: Order): Promise<Sandbox> {
  try {
    await reaches(sandbox, ["started"], { operation: "create", withinMs, signal });
    return sandbox;
  } catch (error) {
    await removeSandbox(sandbox);
    throw error;
  }
}

/** Removes what a request makes after it was given up, as soon as it shows. */
async function removeLate(client: Daytona, { params, creation }: Order, asking: Promise<Sandbox>): Promise<void> {
  let answered = false;
  const answer = asking.then(
    (sandbox) => sandbox,
    () => undefined,
  );
  const settled = answer.finally(() => {
    answered = true;
  });
  for (let attempt = 1; ; attempt += 1) {
    const wasAnswered = answered;
    const found = await findSandbox(client, params.name, "create");
    if (found && recordOf(found.labels)?.creation === creation) return removeSandbox(found);
    // Asked after the answer: there is none, and there will be none.
    if (wasAnswered) return;
    await Promise.race([settled, pause(Math.min(100 * attempt, 1_000))]);
  }
}

function brokenName(name: string, { id, state }: Sandbox): SandboxError {
  const next =
    "remove it (sandkit gc --provider daytona, or at https://app.daytona.io/dashboard), or take another name";
  return new SandboxError("CONFLICT", `name "${name}" belongs to sandbox ${id}, which is ${state}: ${next}`, {
    provider: providerName,
    operation: "create",
    sandboxId: id,
  });
}
