import { setTimeout as pause } from "node:timers/promises";
import type { Sandbox } from "@daytonaio/sdk";
import { SandboxError } from "@sandkit/core";
import { providerName } from "./errors.js";
import { refreshed } from "./find.js";
import { type DaytonaRecord, recordOf } from "./labels.js";
import { isEnded } from "./states.js";

const lookAgainMs = 500;

/**
 * The record of a sandbox that was found by its name, once its maker is done with it; undefined when it has ended
 * meanwhile.
 * @throws SandboxError `CONFLICT` when it was made with other options, or by somebody else's means; `TIMEOUT`
 */
export async function joinNamed(
  sandbox: Sandbox,
  digest: string,
  name: string,
  { withinMs, signal }: { readonly withinMs: number; readonly signal?: AbortSignal | undefined },
): Promise<DaytonaRecord | undefined> {
  const end = performance.now() + withinMs;
  for (;;) {
    const record = recordOf(sandbox.labels);
    if (!record) throw conflict(sandbox, `name "${name}" belongs to a sandbox that Sandkit has not made`);
    if (record.options !== digest) throw conflict(sandbox, `sandbox "${name}" lives with other options`);
    if (!record.isPending) return record;
    if (performance.now() > end) {
      throw new SandboxError("TIMEOUT", `sandbox "${name}" is still being set up by who made it: try again`, {
        provider: providerName,
        operation: "create",
        sandboxId: sandbox.id,
      });
    }
    await pause(lookAgainMs, undefined, { signal });
    const state = await refreshed(sandbox, "create", signal);
    if (state === undefined || isEnded(state)) return undefined;
  }
}

function conflict({ id }: Sandbox, what: string): SandboxError {
  return new SandboxError("CONFLICT", `${what}: destroy it, or take another name`, {
    provider: providerName,
    operation: "create",
    sandboxId: id,
  });
}
