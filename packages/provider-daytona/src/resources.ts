import type { Resources as DaytonaResources } from "@daytonaio/sdk";
import type { Resources } from "@sandkit/core";
import { refusal } from "./errors.js";
import type { Start } from "./templates.js";

const mebibytesOfGibibyte = 1024;

/**
 * A sandbox's resources in the units of Daytona: whole processors and GiB.
 * @throws SandboxError `UNSUPPORTED` where they belong to a snapshot, `INVALID` for parts of a unit
 */
export function resourcesOf(resources: Resources = {}, start: Start): DaytonaResources | undefined {
  const asked = Object.entries(resources).filter(([, value]) => value !== undefined);
  const [first] = asked;
  if (first === undefined) return undefined;
  if (start.image === undefined) {
    const next = 'give an "image", or a template that is built from one, such as python-3.12';
    throw refusal("UNSUPPORTED", `option "resources.${first[0]}": at Daytona a snapshot fixes its resources: ${next}`);
  }
  const { cpus, memoryMiB, diskMiB } = resources;
  return {
    ...(cpus !== undefined && { cpu: whole("cpus", cpus, 1) }),
    ...(memoryMiB !== undefined && { memory: whole("memoryMiB", memoryMiB, mebibytesOfGibibyte) }),
    ...(diskMiB !== undefined && { disk: whole("diskMiB", diskMiB, mebibytesOfGibibyte) }),
  };
}

/** Rounding down would give less than was asked for, and rounding up more than was allowed. */
function whole(option: string, value: number, unit: number): number {
  if (value % unit === 0) return value / unit;
  const near = [Math.floor(value / unit) * unit, Math.ceil(value / unit) * unit].filter((number) => number > 0);
  throw refusal(
    "INVALID",
    `resources.${option} ${value}: Daytona gives whole ${unit === 1 ? "processors" : `multiples of ${unit}`}: take ${near.join(" or ")}`,
  );
}
