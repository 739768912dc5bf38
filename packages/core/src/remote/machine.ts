import type { SandboxInfo } from "../provider.js";
import type { SandboxRecord } from "./record.js";

/**
 * How a vendor's machine is: `coming` will run without anybody's doing, `broken` is of no use and still there, `gone` is
 * being removed.
 */
export type MachineState = "coming" | "running" | "paused" | "broken" | "gone";

/** A machine at a vendor's, as the vendor tells of it now. Clouds add what they need to go on with it. */
export interface Machine {
  /** The vendor's own. */
  readonly id: string;
  readonly state: MachineState;
  /** Undefined for one that Sandkit has not made. */
  readonly record: SandboxRecord | undefined;
  /** By the vendor's clock. */
  readonly createdAt: Date;
  /** When the vendor ends it, by its clock. */
  readonly expiresAt?: Date | undefined;
}

/** What a backend says of a box. */
export type BoxInfo = Omit<SandboxInfo, "ref" | "shells" | "interpreters">;

/** What record and vendor say of a machine. @param machine Undefined: the vendor has none of that id */
export function infoOf(
  { name, template, createdAt, labels }: SandboxRecord,
  machine: Pick<Machine, "state" | "expiresAt"> | undefined,
  origin: SandboxInfo["origin"],
): BoxInfo {
  const { state = "gone", expiresAt } = machine ?? {};
  const shown = state === "coming" ? "running" : state === "broken" ? "gone" : state;
  return { state: shown, origin, name, template, createdAt, labels, expiresAt };
}

/** Whether it can still be used, by whomever. */
export function isAlive({ state }: Machine): boolean {
  return state !== "gone" && state !== "broken";
}
