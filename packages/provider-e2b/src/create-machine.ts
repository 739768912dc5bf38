import { SandboxError } from "@sandkit/core";
import { creationValues, encodeRecord, type SandboxRecord, wait } from "@sandkit/core/kit";
import type { Sandbox, SandboxOpts } from "e2b";
import type { E2BClient } from "./client.js";
import { isPassing, isRefusal } from "./errors.js";
import { managed } from "./marks.js";

const mostTries = 3;
/** When a machine shows itself in the list whose creation was answered by an error, in milliseconds. */
const lookAgainMs = 1_000;

/**
 * Makes a machine. Of a creation without a clear answer, what may have come of it is looked for by its mark and ended,
 * before it is tried again or given up. What shows itself only later, its lease ends.
 */
export async function createMachine(
  client: E2BClient,
  template: string,
  options: Omit<SandboxOpts, "metadata">,
  record: SandboxRecord,
  signal?: AbortSignal,
): Promise<Sandbox> {
  const metadata = { ...managed, ...encodeRecord(record) };
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    try {
      return await client.create(template, { ...options, metadata });
    } catch (error) {
      if (!(error instanceof SandboxError) || !mayHaveMade(error)) throw error;
      await endMarked(client, record, error);
      if (tries >= mostTries || error.code === "TIMEOUT") throw error;
    }
  }
}

function mayHaveMade(error: SandboxError): boolean {
  return isPassing(error) && !isRefusal(error);
}

async function endMarked(client: E2BClient, { creation }: SandboxRecord, cause: SandboxError): Promise<void> {
  const mark = creationValues(creation);
  try {
    for (const waitMs of [0, lookAgainMs]) {
      await wait(waitMs);
      for await (const { sandboxId } of client.list(mark, "create")) await client.kill(sandboxId, "create");
    }
  } catch {
    const message = `${cause.message} (whether a sandbox was made is not known; if so, it ends with its lease)`;
    throw new SandboxError(cause.code, message, { ...cause.toJSON(), cause });
  }
}
