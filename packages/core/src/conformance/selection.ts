import { SandboxError } from "../errors.js";
import type { ConformanceCase } from "./conformance-case.js";

/** Reasons by case id. A skipped case is run all the same and must fail. */
export type Skips = Readonly<Record<string, string>>;

/**
 * Refuses skips that say nothing or name nothing.
 * @throws SandboxError `INVALID`, naming each
 */
export function checkSkips(skip: Skips, cases: readonly ConformanceCase[]): void {
  const ids = new Set(cases.map(({ id }) => id));
  const problems = Object.entries(skip).flatMap(([id, reason]) => {
    if (!ids.has(id)) return [`"${id}" is no case of the suite`];
    return reason.trim() === "" ? [`"${id}" has no reason`] : [];
  });
  if (problems.length > 0) throw invalid(`skip: ${problems.join("; ")}`);
}

/**
 * The cases with one of the ids or in one of the groups: `exec`, `kill.timeout`, `exec.env.as-data`.
 * @throws SandboxError `INVALID` for one that selects nothing
 */
export function selectCases(cases: readonly ConformanceCase[], only?: readonly string[]): readonly ConformanceCase[] {
  if (!only) return cases;
  const belongs = (id: string, wanted: string) => id === wanted || id.startsWith(`${wanted}.`);
  const empty = only.filter((wanted) => !cases.some(({ id }) => belongs(id, wanted)));
  if (empty.length > 0) throw invalid(`only: no case or group ${empty.map((id) => `"${id}"`).join(", ")}`);
  return cases.filter(({ id }) => only.some((wanted) => belongs(id, wanted)));
}

function invalid(message: string): SandboxError {
  return new SandboxError("INVALID", message, { operation: "conformance" });
}
