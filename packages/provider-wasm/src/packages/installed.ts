import { messageOf } from "@sandkit/core";
import type { Demand } from "./demand.js";
import type { PresentPackage } from "./present-package.js";
import { parseRequirement, type Requirement } from "./requirement.js";
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
export function readInstalled(
  present: ReadonlyMap<string, PresentPackage>,
  asked: ReadonlySet<string>,
  onNote: (message: string) => void,
): Map<string, Installed> {
  const installed = new Map<string, Installed>();
  for (const [name, { version: text, requires }] of present) {
    const version = parseVersion(text);
    if (!version) onNote(`${name} in the sandbox has the version ${JSON.stringify(text)}, which is none: ignored`);
    else if (!asked.has(name)) installed.set(name, { version, requires: readRequires(name, requires, onNote) });
  }
  return installed;
}

function readRequires(name: string, texts: readonly string[], onNote: (message: string) => void): Requirement[] {
  return texts.flatMap((text) => {
    try {
      return [parseRequirement(text)];
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      onNote(`${name} in the sandbox has a requirement that cannot be read: ${messageOf(error)}: ignored`);
      return [];
    }
  });
}

/** What packages that stay as they are ask of others, by the name of those. */
export function demandsOfInstalled(
  installed: ReadonlyMap<string, Installed>,
  applies: (requirement: Requirement) => boolean,
): Map<string, Demand[]> {
  const demands = new Map<string, Demand[]>();
  for (const [name, { version, requires }] of installed) {
    for (const requirement of requires) {
      if (requirement.isAddress || requirement.specifiers.length === 0 || !applies(requirement)) continue;
      const own = demands.get(requirement.name) ?? [];
      own.push({ requirement, by: { name, version: version.text, isPresent: true } });
      demands.set(requirement.name, own);
    }
  }
  return demands;
}
