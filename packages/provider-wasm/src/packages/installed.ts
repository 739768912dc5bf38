import { messageOf } from "@sandkit/core";
import type { Budget } from "./budget.js";
import type { Demand } from "./demand.js";
import type { MarkerEnvironment } from "./marker.js";
import type { PresentPackage } from "./present-package.js";
import { appliesTo, parseRequirement, type Requirement } from "./requirement.js";
import { parseVersion, type Version } from "./version.js";

/** A package that is in the sandbox, and may stay. */
export interface Installed {
  readonly version: Version;
  readonly requires: readonly Requirement[];
}

/**
 * Reads what a sandbox says that it has. What cannot be read is told and left out: a guest may have written it.
 * @param asked Packages that are to be chosen anew; as if they were not there.
 */
export async function readInstalled(
  present: ReadonlyMap<string, PresentPackage>,
  asked: ReadonlySet<string>,
  budget: Budget,
  onNote: (message: string) => void,
): Promise<Map<string, Installed>> {
  const installed = new Map<string, Installed>();
  for (const [name, { version: text, requires }] of present) {
    const version = parseVersion(text);
    if (!version) onNote(`${name} in the sandbox has the version ${JSON.stringify(text)}, which is none: ignored`);
    if (!version || asked.has(name)) continue;
    const read: Requirement[] = [];
    for (const each of requires) {
      await budget.countText(each);
      const requirement = readRequirement(name, each, onNote);
      if (requirement) read.push(requirement);
    }
    installed.set(name, { version, requires: read });
  }
  return installed;
}

function readRequirement(name: string, text: string, onNote: (message: string) => void): Requirement | undefined {
  try {
    return parseRequirement(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    onNote(`${name} in the sandbox has a requirement that cannot be read: ${messageOf(error)}: ignored`);
    return undefined;
  }
}

/** What packages that stay as they are ask of others, by the name of those. */
export async function demandsOfInstalled(
  installed: ReadonlyMap<string, Installed>,
  environment: MarkerEnvironment,
  budget: Budget,
): Promise<Map<string, Demand[]>> {
  const demands = new Map<string, Demand[]>();
  for (const [name, { version, requires }] of installed) {
    const by = { name, version: version.text, isPresent: true };
    for (const requirement of requires) {
      if (requirement.isAddress || requirement.specifiers.length === 0) continue;
      await budget.countText(requirement.text);
      if (!appliesTo(requirement, environment)) continue;
      const own = demands.get(requirement.name) ?? [];
      own.push({ requirement, by, causes: [name] });
      demands.set(requirement.name, own);
    }
  }
  return demands;
}
