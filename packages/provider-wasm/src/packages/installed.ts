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

/** About what a guest may have written. */
const mostNotes = 5;

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
  let notes = 0;
  const note = (message: string) => {
    notes += 1;
    if (notes <= mostNotes) onNote(message);
  };
  const installed = new Map<string, Installed>();
  for (const [name, { version: text, requires }] of present) {
    const version = parseVersion(text);
    if (!version) note(`${name} in the sandbox has the version ${JSON.stringify(text)}, which is none: ignored`);
    if (!version || asked.has(name)) continue;
    const read: Requirement[] = [];
    for (const each of requires) {
      await budget.countText(each);
      const requirement = readRequirement(name, each, note);
      if (requirement) read.push(requirement);
    }
    installed.set(name, { version, requires: read });
  }
  if (notes > mostNotes) onNote(`and ${notes - mostNotes} more such things in the sandbox: ignored`);
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

/** What an installed package asks of another. */
interface InstalledDemand extends Demand {
  /** Those by whose asking for extras it holds; undefined: it holds anyway. */
  readonly through?: InstalledDemand[] | undefined;
}

/** What packages that stay as they are ask of others, by the name of those. */
export type Dependents = ReadonlyMap<string, readonly InstalledDemand[]>;

/** What installed packages ask of one another, also for the sake of extras, and of others. */
export async function dependentsOf(
  installed: ReadonlyMap<string, Installed>,
  environment: MarkerEnvironment,
  budget: Budget,
): Promise<Dependents> {
  const known = new Map<Requirement, InstalledDemand>();
  const asking: InstalledDemand[] = [];
  const add = async (name: string, { version, requires }: Installed, asker?: InstalledDemand) => {
    const by = { name, version: version.text, isPresent: true };
    for (const requirement of requires) {
      if (requirement.isAddress || requirement.specifiers.length + requirement.extras.length === 0) continue;
      await budget.countText(requirement.text, 1 + (asker?.requirement.extras.length ?? 0));
      if (!appliesTo(requirement, environment, asker?.requirement.extras)) continue;
      const before = known.get(requirement);
      if (asker) before?.through?.push(asker);
      if (before) continue;
      const demand = { requirement, by, causes: [name], through: asker && [asker] };
      known.set(requirement, demand);
      if (requirement.extras.length > 0) asking.push(demand);
    }
  };
  for (const [name, each] of installed) await add(name, each);
  for (const asker of asking) {
    const { name } = asker.requirement;
    const target = installed.get(name);
    if (target) await add(name, target, asker);
  }
  return byName([...known.values()]);
}

/** Those that hold while some packages stay as they are; with the packages to which each is due. */
export async function holding(
  demands: readonly InstalledDemand[],
  stays: (name: string) => boolean,
  budget: Budget,
): Promise<Demand[]> {
  const held: Demand[] = [];
  for (const demand of demands) {
    const causes = await causesOf(demand, stays, budget);
    if (causes) held.push({ ...demand, causes });
  }
  return held;
}

/** By the shortest way to a package that asks anyway; undefined where there is none any more. */
async function causesOf(demand: InstalledDemand, stays: (name: string) => boolean, budget: Budget) {
  const ways = new Map<InstalledDemand, readonly string[]>([[demand, demand.causes]]);
  for (const [each, causes] of ways) {
    await budget.countSteps(1 + causes.length + (each.through?.length ?? 0));
    if (!each.causes.every(stays)) continue;
    if (!each.through) return causes;
    for (const asker of each.through) if (!ways.has(asker)) ways.set(asker, [...causes, ...asker.causes]);
  }
  return undefined;
}

function byName(demands: readonly InstalledDemand[]): Dependents {
  const names = new Map<string, InstalledDemand[]>();
  for (const demand of demands) {
    const own = names.get(demand.requirement.name) ?? [];
    own.push(demand);
    names.set(demand.requirement.name, own);
  }
  return names;
}
