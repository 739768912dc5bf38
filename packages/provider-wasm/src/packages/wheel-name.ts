import { normalizeName } from "./requirement.js";
import { parseVersion, type Version } from "./version.js";

/** What the name of a wheel tells, but for what it fits. */
export interface WheelName {
  readonly name: string;
  readonly version: Version;
  readonly build: number;
}

/** The Python that wheels are for. */
export interface WheelTarget {
  /** Full version, such as `3.14.2`. */
  readonly python: string;
  /** The platform's tag, such as `pyemscripten_2026_0_wasm32`. */
  readonly platform: string;
}

/** Of one wheel: its name multiplies them. */
const mostTags = 1000;

/** Undefined for what is no name of a wheel. */
export function parseWheelName(filename: string): WheelName | undefined {
  const parts = partsOf(filename);
  const [name = "", versionText = "", build = ""] = parts.slice(0, -3);
  const version = parseVersion(versionText.replaceAll("_", "-"));
  if (!version || !/^[a-z0-9._]+$/i.test(name)) return undefined;
  return { name: normalizeName(name), version, build: Number.parseInt(build, 10) || 0 };
}

/** How well a wheel fits: the higher the better, 0 when it does not. Compiled ones go before plain Python. */
export function wheelFit(filename: string, target: WheelTarget): number {
  const [pythons = [], abis = [], platforms = []] = partsOf(filename)
    .slice(-3)
    .map((set) => set.split("."));
  if (pythons.length * abis.length * platforms.length > mostTags) return 0;
  const ranks = ranksOf(target);
  const tags = pythons.flatMap((python) => abis.flatMap((abi) => platforms.map((at) => `${python}-${abi}-${at}`)));
  return Math.max(0, ...tags.map((tag) => ranks.get(tag) ?? 0));
}

/** Name, version, perhaps a build, and the three sets of tags; nothing for what is no name of a wheel. */
function partsOf(filename: string): string[] {
  const parts = filename.endsWith(".whl") ? filename.slice(0, -".whl".length).split("-") : [];
  return parts.length === 5 || parts.length === 6 ? parts : [];
}

/** What people call it that fits. */
export function describeTarget({ python, platform }: WheelTarget): string {
  return `py3-none-any or cp${shortVersion(python).join("")}-…-${platform}`;
}

const known = new Map<string, ReadonlyMap<string, number>>();

/** By tag; made once for a target, as pages of indexes are long. */
function ranksOf(target: WheelTarget): ReadonlyMap<string, number> {
  const key = `${target.python} ${target.platform}`;
  const tags = known.has(key) ? [] : tagsOf(target);
  const ranks = known.get(key) ?? new Map(tags.map((tag, place) => [tag, tags.length - place]));
  known.set(key, ranks);
  return ranks;
}

/** From the best to the last. */
function tagsOf({ python, platform }: WheelTarget): string[] {
  const [major, minor] = shortVersion(python);
  const earlier = Array.from({ length: minor + 1 }, (_, index) => minor - index);
  const own = `cp${major}${minor}`;
  return [
    `${own}-${own}-${platform}`,
    ...earlier.map((each) => `cp${major}${each}-abi3-${platform}`),
    `${own}-none-${platform}`,
    ...earlier.map((each) => `py${major}${each}-none-${platform}`),
    `py${major}-none-${platform}`,
    `${own}-none-any`,
    ...earlier.map((each) => `py${major}${each}-none-any`),
    `py${major}-none-any`,
  ];
}

function shortVersion(python: string): [major: number, minor: number] {
  const [major = 3, minor = 0] = python.split(".").map(Number);
  return [major, minor];
}
