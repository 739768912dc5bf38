import type { InstalledRecord } from "../protocol.js";
import type { MarkerEnvironment } from "./marker.js";
import { Pace } from "./pace.js";
import { PipUsageError } from "./pip-arguments.js";
import { appliesTo, normalizeName, parseRequirement, type Requirement } from "./requirement.js";
import { satisfies } from "./specifier.js";
import { parseVersion } from "./version.js";
import { sitePackages } from "./wheel-layout.js";

type Packages = readonly InstalledRecord[];

/** The text of `pip list` in one of its formats, or of `pip freeze`. @throws PipUsageError */
export function listText(packages: Packages, format: string): string {
  const sorted = byTitle(packages);
  switch (format) {
    case "json":
      return `${JSON.stringify(sorted.map(({ title, version }) => ({ name: title, version })))}\n`;
    case "freeze":
      return sorted.map(({ title, version }) => `${title}==${version}\n`).join("");
    case "columns":
      return columns(sorted);
    default:
      throw new PipUsageError(`--format: columns, freeze or json`);
  }
}

function columns(packages: Packages): string {
  if (packages.length === 0) return "";
  const rows = [["Package", "Version"], ...packages.map(({ title, version }) => [title, version])];
  const [first = 0, second = 0] = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  rows.splice(1, 0, ["-".repeat(first), "-".repeat(second)]);
  return rows.map(([name = "", version = ""]) => `${name.padEnd(first)} ${version}\n`).join("");
}

/** The text of `pip show` for these names, and those that are not there. */
export async function showText(
  packages: Packages,
  names: readonly string[],
  environment: MarkerEnvironment,
): Promise<{ text: string; missing: string[] }> {
  const all = await needsOf(packages, environment);
  const needs = new Map(packages.map((each) => [each, new Set(all.get(each)?.map(({ name }) => name))]));
  const titles = new Map(packages.map(({ name, title }) => [name, title]));
  const missing: string[] = [];
  const parts = names.flatMap((asked) => {
    const name = normalizeName(asked);
    const found = packages.find((each) => each.name === name);
    if (!found) {
      missing.push(asked);
      return [];
    }
    const requires = Array.from(needs.get(found) ?? [], (each) => titles.get(each) ?? each).sort();
    const requiredBy = packages.filter((each) => needs.get(each)?.has(name)).map(({ title }) => title);
    const rows = [`Name: ${found.title}`, `Version: ${found.version}`, `Summary: ${found.summary}`];
    rows.push(`Location: ${sitePackages}`, `Requires: ${requires.join(", ")}`);
    return [`${[...rows, `Required-by: ${requiredBy.join(", ")}`].join("\n")}\n`];
  });
  return { text: parts.join("---\n"), missing };
}

/** What `pip check` finds: needs that are not met. */
export async function brokenNeeds(packages: Packages, environment: MarkerEnvironment): Promise<string[]> {
  const needs = await needsOf(packages, environment);
  const byName = new Map(packages.map((each) => [each.name, each]));
  return byTitle(packages).flatMap((each) =>
    (needs.get(each) ?? []).flatMap((need) => {
      const there = byName.get(need.name);
      const version = there && parseVersion(there.version);
      if (!there) return [`${each.title} ${each.version} requires ${need.name}, which is not installed.`];
      if (version && satisfies(version, need.specifiers)) return [];
      const wanted = (need.text.split(";", 1)[0] ?? "").trimEnd();
      return [`${each.title} ${each.version} has requirement ${wanted}, but you have ${there.title} ${there.version}.`];
    }),
  );
}

/** What packages need without extras, as far as it can be read: installing tells of the rest. */
async function needsOf(
  packages: Packages,
  environment: MarkerEnvironment,
): Promise<ReadonlyMap<InstalledRecord, readonly Requirement[]>> {
  const pace = new Pace();
  const needs = new Map<InstalledRecord, Requirement[]>();
  for (const each of packages) {
    const own: Requirement[] = [];
    for (const text of each.requires) {
      await pace.next();
      const requirement = readRequirement(text);
      if (requirement && appliesTo(requirement, environment)) own.push(requirement);
    }
    needs.set(each, own);
  }
  return needs;
}

function readRequirement(text: string): Requirement | undefined {
  try {
    return parseRequirement(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function byTitle(packages: Packages): Packages {
  return packages.toSorted((a, b) => (a.title.toLowerCase() < b.title.toLowerCase() ? -1 : 1));
}
