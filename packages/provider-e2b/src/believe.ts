import { SandboxError } from "@sandkit/core";
import type { E2BClient } from "./client.js";
import { providerName } from "./errors.js";

const askingMs = 5_000;

/** Says where a sandbox is, in the words of an error; undefined while it runs. */
export async function whyUnreachable(client: E2BClient, sandboxId: string): Promise<SandboxError | undefined> {
  const info = await client.info(sandboxId, "info", { deadlineMs: askingMs });
  if (info?.state === "running") return undefined;
  const details = { provider: providerName, sandboxId };
  if (info) return new SandboxError("UNAVAILABLE", `sandbox ${sandboxId} is paused: call resume()`, details);
  const why = "its time was up, or somebody ended it";
  return new SandboxError("SANDBOX_LOST", `sandbox ${sandboxId} is not at E2B any more (${why}): create a new one`, {
    ...details,
    retryable: false,
  });
}

/** What may be said by a way to a sandbox that is merely interrupted, or of one that is merely paused. */
const doubtful: ReadonlySet<string> = new Set(["NOT_FOUND", "UNAVAILABLE", "TRANSPORT", "TIMEOUT", "RATE_LIMITED"]);

/**
 * What an error of a call into a sandbox means. The SDK says of a sandbox that is paused, of one whose requests are too
 * many and of one that nobody reaches just now that it is not running any more: E2B is asked before that is believed.
 */
export async function believe(client: E2BClient, sandboxId: string, error: SandboxError): Promise<SandboxError> {
  if (!doubtful.has(error.code)) return error;
  let known: SandboxError | undefined;
  try {
    known = await whyUnreachable(client, sandboxId);
  } catch {
    // E2B itself does not answer now: then nothing is known, least of all that it has ended.
  }
  const { operation } = error;
  if (known) return new SandboxError(known.code, known.message, { ...known.toJSON(), operation, cause: error });
  if (!saysGone(error)) return error;
  const message = `${operation}: the way to sandbox ${sandboxId} is closed just now: try again`;
  return new SandboxError("UNAVAILABLE", message, { provider: providerName, sandboxId, operation, cause: error.cause });
}

function saysGone({ cause }: SandboxError): boolean {
  return cause instanceof Error && cause.name === "SandboxNotFoundError";
}
