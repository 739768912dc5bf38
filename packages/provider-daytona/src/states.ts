import type { Sandbox } from "@daytonaio/sdk";

/** What Daytona calls the state of a sandbox. */
export type DaytonaState = Sandbox["state"];

/** On its way to be used. */
const coming: ReadonlySet<string> = new Set([
  "creating",
  "restoring",
  "resuming",
  "starting",
  "pending_build",
  "building_snapshot",
  "pulling_snapshot",
]);
const kept: ReadonlySet<string> = new Set(["stopped", "stopping", "paused", "pausing", "archived", "archiving"]);
const ended: ReadonlySet<string> = new Set(["destroyed", "destroying"]);
const broken: ReadonlySet<string> = new Set(["error", "build_failed"]);

/** States that a sandbox stays in until something is done with it. */
export const settled: readonly string[] = ["started", "stopped", "paused", "archived"];

/** Being changed: most of what could be done with it is refused meanwhile. */
export function isChanging(state: DaytonaState): boolean {
  return state !== undefined && !settled.includes(state) && !broken.has(state) && state !== "destroyed";
}

/** Will be usable without anybody's doing. */
export function isComing(state: DaytonaState): boolean {
  return state !== undefined && coming.has(state);
}

/** Stopped or paused, or about to be. */
export function isKept(state: DaytonaState): boolean {
  return state !== undefined && kept.has(state);
}

/** Removed, or being removed. */
export function isEnded(state: DaytonaState): boolean {
  return state !== undefined && ended.has(state);
}

/** Of no use to anybody, and still there. */
export function isBroken(state: DaytonaState): boolean {
  return state !== undefined && broken.has(state);
}
