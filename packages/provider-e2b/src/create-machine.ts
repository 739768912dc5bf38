import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { encodeRecord, SandboxError, type SandboxRecord } from "@sandkit/core";
import type { Sandbox, SandboxOpts } from "e2b";
import type { E2BClient } from "./client.js";
import { isPassing, isRefusal } from "./errors.js";
import { managed, markedAs } from "./marks.js";

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
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    const mark = randomUUID();
    const metadata = { ...managed, ...markedAs(mark), ...encodeRecord(record) };
    try {
      return await client.create(template, { ...options, metadata });
    } catch (error) {
      if (!(error instanceof SandboxError) || !mayHaveMade(error)) throw error;
      await endMarked(client, mark, error);
      if (tries >= mostTries || error.code === "TIMEOUT") throw error;
    }
  }
}

function mayHaveMade(error: SandboxError): boolean {
  return isPassing(error) && !isRefusal(error);
}

async function endMarked(client: E2BClient, mark: string, cause: SandboxError): Promise<void> {
  try {
    for (const waitMs of [0, lookAgainMs]) {
      await pause(waitMs);
      for await (const { sandboxId } of client.list(markedAs(mark), "create")) await client.kill(sandboxId, "create");
    }
  } catch {
    const message = `${cause.message} (whether a sandbox was made is not known; if so, it ends with its lease)`;
    throw new SandboxError(cause.code, message, { ...cause.toJSON(), cause });
  }
}
