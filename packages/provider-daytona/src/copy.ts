import type { Daytona, Sandbox } from "@daytonaio/sdk";
import { recordOfCopy, type SandboxRecord, undone } from "@sandkit/core/kit";
import { onDaytona, patiently } from "./call.js";
import { contextOf, findSandbox, reaches } from "./find.js";
import { labelsOf } from "./labels.js";
import { type DaytonaMachine, machineOf } from "./machine.js";
import { minutesOf } from "./minutes.js";
import { vendorName } from "./names.js";
import { changeWithinMs } from "./pause.js";
import { removeSandbox } from "./removal.js";
import { settled } from "./states.js";

/** Copies of a virtual machine, with what runs in it, for one lease: all that were asked for, or none. */
export async function copySandbox(
  client: Daytona,
  { sandbox, hasImage }: DaytonaMachine,
  record: SandboxRecord,
  count: number,
  leaseMs: number,
): Promise<DaytonaMachine[]> {
  const copies: Sandbox[] = [];
  try {
    // One after another: while one is made, Daytona refuses the next.
    while (copies.length < count) copies.push(await copyOnce(recordOfCopy(record)));
  } catch (error) {
    throw await undone(error, async () => {
      for (const copy of copies) await removeSandbox(copy);
    });
  }
  return copies.map(machineOf);

  async function copyOnce(own: SandboxRecord): Promise<Sandbox> {
    const name = vendorName(own);
    const context = contextOf(sandbox, "fork");
    try {
      await reaches(sandbox, settled, { operation: "fork", withinMs: changeWithinMs });
      const copy = await onDaytona(context, () => sandbox.fork({ name }, changeWithinMs / 1000));
      // It has the labels of the original, and its time to live.
      await patiently(context, () => copy.setLabels(labelsOf(own, hasImage)));
      await patiently(context, () => copy.setTtl(minutesOf(leaseMs)));
      return copy;
    } catch (error) {
      throw await undone(error, async () => {
        const left = await findSandbox(client, name, "fork");
        if (left) await removeSandbox(left);
      });
    }
  }
}
