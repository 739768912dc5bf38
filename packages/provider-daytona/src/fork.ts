import { randomUUID } from "node:crypto";
import type { ProviderSession } from "@sandkit/core";
import type { BoxParts } from "./box.js";
import { onDaytona } from "./call.js";
import { contextOf, findSandbox } from "./find.js";
import type { DaytonaRecord } from "./labels.js";
import { changeWithinMs } from "./pause.js";
import { removeSandbox } from "./removal.js";

/** Copies of a virtual machine, with what runs in it: all that were asked for, or none. */
export async function forkSandbox(parts: BoxParts, count: number): Promise<ProviderSession[]> {
  const forks = await Promise.allSettled(Array.from({ length: count }, () => forkOnce(parts)));
  const sessions = forks.flatMap((fork) => (fork.status === "fulfilled" ? [fork.value] : []));
  const failed = forks.find((fork) => fork.status === "rejected");
  if (!failed) return sessions;
  await Promise.allSettled(sessions.map((session) => session.destroy()));
  throw failed.reason;
}

async function forkOnce({ client, sandbox, record, adopt }: BoxParts): Promise<ProviderSession> {
  const creation = randomUUID();
  const name = `sandkit-${creation}`;
  const own: DaytonaRecord = { ...record, name: undefined, creation, createdAt: new Date() };
  try {
    const context = contextOf(sandbox, "fork");
    return await adopt(await onDaytona(context, () => sandbox.fork({ name }, changeWithinMs / 1000)), own);
  } catch (error) {
    const left = await findSandbox(client, name, "fork");
    if (left) await removeSandbox(left);
    throw error;
  }
}
