import type { Sandbox } from "@daytonaio/sdk";
import type { Machine, MachineState } from "@sandkit/core/kit";
import { readLabels } from "./labels.js";
import { isBroken, isComing, isEnded, isKept } from "./states.js";

/** A sandbox at Daytona. */
export interface DaytonaMachine extends Machine {
  readonly sandbox: Sandbox;
  /** Made from an image, which leaves its resources to the one who makes it. */
  readonly hasImage: boolean;
}

/** What Daytona told last of a sandbox. */
export function machineOf(sandbox: Sandbox): DaytonaMachine {
  const { id, autoDestroyAt, createdAt } = sandbox;
  const { record, hasImage } = readLabels(sandbox.labels);
  return {
    id,
    sandbox,
    record,
    hasImage,
    state: stateOf(sandbox.state),
    createdAt: createdAt === undefined ? (record?.createdAt ?? new Date()) : new Date(createdAt),
    expiresAt: autoDestroyAt === undefined ? undefined : new Date(autoDestroyAt),
  };
}

function stateOf(state: Sandbox["state"]): MachineState {
  if (isEnded(state)) return "gone";
  if (isBroken(state)) return "broken";
  if (isKept(state)) return "paused";
  return isComing(state) ? "coming" : "running";
}

/** Virtual machines are paused with their memory, and forked. */
export function isVirtualMachine({ sandboxClass }: Sandbox): boolean {
  return sandboxClass !== undefined && sandboxClass !== "container";
}
