import { SandboxError } from "@sandkit/core";
import { expect, it } from "vitest";
import { Budget } from "../../src/packages/budget.js";
import type { Candidate, Source } from "../../src/packages/candidate.js";
import { readInstalled } from "../../src/packages/installed.js";
import { wasmEnvironment } from "../../src/packages/marker.js";
import type { PresentPackage } from "../../src/packages/present-package.js";
import { appliesTo, parseRequirement, type Requirement } from "../../src/packages/requirement.js";
import { resolve } from "../../src/packages/resolve.js";
import { satisfies } from "../../src/packages/specifier.js";
import { parseVersion, type Version } from "../../src/packages/version.js";

const [names, versions, extra] = [["a", "b", "c", "d", "e"], [3, 2, 1], "x"] as const;
const target = { python: "3.14.2", platform: "none" };
const environment = wasmEnvironment(target.python);

/** What each version of each package needs. */
type Universe = ReadonlyMap<string, ReadonlyMap<number, readonly Requirement[]>>;

/** Numbers that look like chance and are the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return Math.floor(((state ^ (state >>> 13)) >>> 0) % below);
  };
}

function someRequirement(below: (limit: number) => number, withMarker: boolean): Requirement {
  const [name, version] = [names[below(names.length)], 1 + below(versions.length)];
  const condition = ["", `==${version}`, `<${version + 1}`, `>=${version}`, `!=${version}`][below(5)];
  const extras = below(3) === 0 ? `[${extra}]` : "";
  return parseRequirement(`${name}${extras}${condition}${withMarker ? `; extra == '${extra}'` : ""}`);
}

function someUniverse(below: (limit: number) => number): Universe {
  const needs = () => Array.from({ length: below(4) }, () => someRequirement(below, below(4) === 0));
  return new Map(
    names.map((name) => [name, new Map(versions.filter(() => below(5) > 0).map((version) => [version, needs()]))]),
  );
}

function sourceOf(universe: Universe): Source {
  return {
    description: "the universe",
    find: async (name) => {
      const entries = [...(universe.get(name) ?? [])];
      const candidates = entries.map(([number, requires]): Candidate => {
        const filename = `${name}-${number}.whl`;
        return {
          pin: { kind: "wheel", name, version: `${number}`, filename, origin: { from: "directory", path: filename } },
          version: versionOf(number),
          yanked: false,
          needs: async () => ({ requires, python: [], extras: [extra] }),
        };
      });
      return { candidates, known: entries.length > 0, unfit: [] };
    },
  };
}

function versionOf(number: number): Version {
  const version = parseVersion(`${number}`);
  if (!version) throw new Error(`${number} is no version`);
  return version;
}

/** Whether these versions are all that is asked for, and go together; nothing is said of packages that nobody needs. */
function goesTogether(asked: readonly Requirement[], universe: Universe, choice: ReadonlyMap<string, number>): boolean {
  const extras = new Map<string, Set<string>>();
  const demands = [...asked];
  const seen = new Set<string>();
  for (let demand = demands.shift(); demand; demand = demands.shift()) {
    const number = choice.get(demand.name);
    if (number === undefined || !satisfies(versionOf(number), demand.specifiers)) return false;
    const own = extras.get(demand.name) ?? new Set();
    for (const each of demand.extras) own.add(each);
    extras.set(demand.name, own);
    const key = `${demand.name} ${[...own]}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const requires = universe.get(demand.name)?.get(number) ?? [];
    demands.push(...requires.filter((each) => appliesTo(each, environment, own)));
  }
  return true;
}

function* everyChoice(universe: Universe, rest: readonly string[] = names): Generator<Map<string, number>> {
  const [name, ...others] = rest;
  if (name === undefined) {
    yield new Map();
    return;
  }
  for (const choice of everyChoice(universe, others)) {
    yield choice;
    for (const number of universe.get(name)?.keys() ?? []) yield new Map([...choice, [name, number]]);
  }
}

async function search(asked: readonly Requirement[], universe: Universe, present: ReadonlyMap<string, PresentPackage>) {
  const budget = new Budget(1);
  const onNote = () => undefined;
  const installed = await readInstalled(present, new Set(), budget, onNote);
  const options = { sources: [sourceOf(universe)], target, environment, budget, installed, onNote };
  try {
    const pins = await resolve(asked, options);
    return new Map(pins.map(({ name, version }) => [name, Number(version)]));
  } catch (error) {
    if (error instanceof SandboxError && error.code === "INVALID") return undefined;
    throw error;
  }
}

it("finds versions that go together exactly where there are some", async () => {
  let found = 0;
  const rounds = 400;
  for (let seed = 1; seed <= rounds; seed += 1) {
    const below = numbers(seed * 7919);
    const universe = someUniverse(below);
    const asked = Array.from({ length: 1 + below(3) }, () => someRequirement(below, false));
    const texts = `${seed}: ${asked.map(({ text }) => text)}`;
    const choice = await search(asked, universe, new Map());
    if (choice) expect(goesTogether(asked, universe, choice), texts).toBe(true);
    const exists = [...everyChoice(universe)].some((each) => goesTogether(asked, universe, each));
    expect(choice !== undefined, texts).toBe(exists);
    if (choice) found += 1;
  }
  // Both outcomes are common enough to mean something.
  expect(Math.min(found, rounds - found)).toBeGreaterThan(rounds / 10);
});

it("breaks nothing that is installed, and finds what there is beside it", async () => {
  let [found, changed] = [0, 0];
  const rounds = 400;
  for (let seed = 1; seed <= rounds; seed += 1) {
    const below = numbers(seed * 104_729);
    const universe = someUniverse(below);
    const start = Array.from({ length: 2 }, () => someRequirement(below, false));
    const before = await search(start, universe, new Map());
    if (!before) continue;
    const present = new Map(
      [...before].map(([name, number]) => {
        const requires = (universe.get(name)?.get(number) ?? []).map(({ text }) => text);
        return [name, { version: `${number}`, requires }];
      }),
    );
    const asked = [someRequirement(below, false)];
    const texts = `${seed}: ${start.map(({ text }) => text)}; then ${asked.map(({ text }) => text)}`;
    const choice = await search(asked, universe, present);
    const after = new Map([...before, ...(choice ?? [])]);
    // Whoever was there is there still, and has what it needs; what the caller asked for then is not known any more.
    const all = [...asked, ...[...before.keys()].map(parseRequirement)];
    if (choice) expect(goesTogether(all, universe, after), texts).toBe(true);
    const exists = [...everyChoice(universe)].some((each) => goesTogether(all, universe, each));
    expect(choice !== undefined, texts).toBe(exists);
    if (choice) found += 1;
    if (choice && [...choice.keys()].some((name) => before.has(name))) changed += 1;
  }
  expect(Math.min(found, changed)).toBeGreaterThan(10);
});
