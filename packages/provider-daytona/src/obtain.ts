import type { CreateSandboxFromImageParams, CreateSandboxFromSnapshotParams, Daytona, Sandbox } from "@daytonaio/sdk";
import { SandboxError } from "@sandkit/core";
import { undone, wait, waitBefore } from "@sandkit/core/kit";
import { onDaytona } from "./call.js";
import { isPassing, providerName, retryAfterOf, statusOf } from "./errors.js";
import { findSandbox, reaches } from "./find.js";
import { readLabels } from "./labels.js";
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

const mostTries = 5;
const busyNameMs = 250;
/** When a sandbox shows itself whose creation was answered by nothing, in milliseconds. */
const lookAgainMs = 1_000;

/**
 * Makes a sandbox, and waits until it runs. On failure and on abort nothing of ours is left.
 * @returns undefined when somebody else has its name
 * @throws SandboxError as Daytona's answer fits; or `signal.reason`
 */
export async function obtainSandbox(client: Daytona, order: Order): Promise<Sandbox | undefined> {
  const { params, signal, withinMs } = order;
  const end = performance.now() + withinMs;
  let asking: Promise<Sandbox> | undefined;
  try {
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      const request = ask(client, params, Math.max(1_000, end - performance.now()));
      asking = request;
      try {
        return await onDaytona({ operation: "create", subject: `sandbox ${params.name}` }, () => request, signal);
      } catch (error) {
        signal?.throwIfAborted();
        const became = await whatBecameOfIt(client, order, error, attempt);
        if (became !== "again") return became === "taken" ? undefined : became;
        if (performance.now() > end) throw error;
        await wait(statusOf(error) === 409 ? busyNameMs : waitBefore(attempt, retryAfterOf(error)), signal);
      }
    }
  } catch (error) {
    if (!signal?.aborted || !asking) throw error;
    // A request goes on though nobody waits for it, and one without an answer may have made something.
    const late = asking;
    throw await undone(signal.reason, () => removeLate(client, order, late), signal);
  }
}

function ask(client: Daytona, params: CreateParams, withinMs: number): Promise<Sandbox> {
  const options = { timeout: Math.ceil(withinMs / 1000) };
  // The SDK writes into what it is given.
  const own = { ...params, labels: { ...params.labels } };
  return "image" in own ? client.create(own, options) : client.create(own, options);
}

/** After a failure: the sandbox all the same, `taken` by somebody else, `again` to be asked for; or the error. */
async function whatBecameOfIt(
  client: Daytona,
  order: Order,
  error: unknown,
  attempt: number,
): Promise<Sandbox | "taken" | "again"> {
  const { params, signal } = order;
  const isTaken = statusOf(error) === 409;
  const found = await lookFor(client, params.name, error, signal);
  if (found && isOf(order, found)) {
    if (isTaken || isPassing(error)) return finish(found, order);
    throw await undone(error, () => removeSandbox(found), signal);
  }
  if (found && isTaken && !isEnded(found.state)) {
    if (isBroken(found.state)) throw brokenName(params.name, found);
    return "taken";
  }
  if ((isTaken || isPassing(error)) && attempt < mostTries) return "again";
  throw error;
}

async function lookFor(client: Daytona, name: string, cause: unknown, signal: AbortSignal | undefined) {
  try {
    return await findSandbox(client, name, "create", signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(cause instanceof SandboxError) || !isPassing(cause)) throw cause;
    const message = `${cause.message} (whether a sandbox was made is not known; if so, it ends with its lease)`;
    throw new SandboxError(cause.code, message, { ...cause.toJSON(), cause: error });
  }
}

function isOf({ creation }: Order, { labels }: Sandbox): boolean {
  return readLabels(labels).record?.creation === creation;
}

/** The answer was lost, the sandbox was not. */
async function finish(sandbox: Sandbox, { withinMs, signal }: Order): Promise<Sandbox> {
  try {
    await reaches(sandbox, ["started"], { operation: "create", withinMs, signal });
    return sandbox;
  } catch (error) {
    throw await undone(error, () => removeSandbox(sandbox), signal);
  }
}

/** Removes what a request makes after it was given up, as soon as it shows. */
async function removeLate(client: Daytona, order: Order, asking: Promise<Sandbox>): Promise<void> {
  let looksLeft = Number.POSITIVE_INFINITY;
  const settled = asking.then(
    () => {
      looksLeft = 1;
    },
    () => {
      looksLeft = 2;
    },
  );
  for (let attempt = 1; looksLeft > 0; attempt += 1) {
    // Begun after the answer, a look tells what came of it.
    const counts = Number.isFinite(looksLeft);
    const found = await findSandbox(client, order.params.name, "create");
    if (found && isOf(order, found)) return removeSandbox(found);
    if (!counts) await Promise.race([settled, wait(Math.min(100 * attempt, lookAgainMs))]);
    else if (--looksLeft > 0) await wait(lookAgainMs);
  }
}

/** For who wants the name of a sandbox that is of no use. */
export function brokenName(name: string, { id, state }: Sandbox): SandboxError {
  const next =
    "remove it (sandkit gc --provider daytona, or at https://app.daytona.io/dashboard), or take another name";
  return new SandboxError("CONFLICT", `name "${name}" belongs to sandbox ${id}, which is ${state}: ${next}`, {
    provider: providerName,
    operation: "create",
    sandboxId: id,
  });
}
