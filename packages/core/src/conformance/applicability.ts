import type { Capabilities } from "../capabilities.js";
import type { ConformanceCase } from "./conformance-case.js";
import { type Box, languageFor } from "./programs.js";

/** Why a case does not apply here; undefined when it does. */
export function inapplicable(subject: ConformanceCase, capabilities: Capabilities, box: Box): string | undefined {
  const { features } = capabilities;
  const undeclared = subject.needs.filter((feature) => !features[feature]);
  if (undeclared.length > 0) return `needs ${undeclared.join(", ")}, which is not declared`;
  const declared = subject.without?.filter((feature) => features[feature]) ?? [];
  if (declared.length > 0) return `is about a provider without ${declared.join(", ")}`;
  const programs = subject.programs?.filter((program) => languageFor(box, program) === undefined) ?? [];
  if (programs.length > 0) return `nothing in the box can run the probe program ${programs.join(", ")}`;
  const traits = subject.traits?.filter((trait) => ![...box.values()].some((found) => found.has(trait))) ?? [];
  if (traits.length > 0) return `the box has no ${traits.join(", ")}`;
  return undefined;
}
