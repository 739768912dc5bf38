import { brief } from "./brief.js";
import type { Requirement } from "./requirement.js";

/** A requirement, and who has it. */
export interface Demand {
  readonly requirement: Requirement;
  /** The package that has it; undefined: the caller. */
  readonly by?: { readonly name: string; readonly version: string; readonly isPresent: boolean } | undefined;
  /** Packages of which another version might not have it: that one, and those that ask for extras of it. */
  readonly causes: readonly string[];
}

/** For people. */
export function describeDemand({ requirement, by }: Demand): string {
  if (!by) return `asked for: ${brief(requirement.text)}`;
  const [conditions = ""] = requirement.text.split(";", 1);
  return `${by.name} ${by.version}${by.isPresent ? ", which is installed," : ""} needs ${brief(conditions.trim())}`;
}
