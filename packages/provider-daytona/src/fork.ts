import { randomUUID } from "node:crypto";
import type { ProviderSession } from "@sandkit/core";
import type { BoxParts } from "./box.js";
import { onDaytona } from "./call.js";
import { contextOf, findSandbox, reaches } from "./find.js";
import type { DaytonaRecord } from "./labels.js";
import { changeWithinMs } from "./pause.js";
import { removeSandbox } from "./removal.js";
import { settled } from "./states.js";

/** Copies of a virtual machine, with what runs in it: all that were asked for, or none. */
export async function forkSandbox(parts: BoxParts, count: number): Promise<ProviderSession[]> {
  const sessions: ProviderSession[] = [];
  try {
    // One after another: while one is made, Daytona refuses the next.
    while (sessions.length < count) sessions.push(await forkOnce(parts));
    return sessions;
  } catch (error) {
    await Promise.allSettled(sessions.map((session) => session.destroy()));
    throw error;
  }
}

async function forkOnce({ client, sandbox, record, adopt }: BoxParts): Promise<ProviderSession> {
  const creation = randomUUID();
  const name = `sandkit-${creation}`;
  const own: DaytonaRecord = { ...record, name: undefined, creation, createdAt: new Date() };
  try {
    await reaches(sandbox, settled, { operation: "fork", withinMs: changeWithinMs });
    const fork = () => sandbox.fork({ name }, changeWithinMs / 1000);
    return await adopt(await onDaytona(contextOf(sandbox, "fork"), fork), own);
  } catch (error) {
    const left = await findSandbox(client, name, "fork");
    if (left) await removeSandbox(left);
    throw error;
  }
}
