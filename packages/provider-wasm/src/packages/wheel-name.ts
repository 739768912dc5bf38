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

/** In bytes, as file systems have it. */
const longestName = 255;

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
  const [pythons, abis, platforms] = partsOf(filename)
    .slice(-3)
    .map((set) => new Set(set.split(".")));
  const tags = tagsFor(target);
  // Never the product of the sets: a name of moderate length would multiply to millions.
  const place = tags.findIndex(
    ([python, abi, platform]) => pythons?.has(python) && abis?.has(abi) && platforms?.has(platform),
  );
  return place < 0 ? 0 : tags.length - place;
}

/** Name, version, perhaps a build, and the three sets of tags; nothing for what is no name of a wheel. */
function partsOf(filename: string): string[] {
  const isName = filename.endsWith(".whl") && Buffer.byteLength(filename) <= longestName;
  const parts = isName ? filename.slice(0, -".whl".length).split("-") : [];
  return parts.length === 5 || parts.length === 6 ? parts : [];
}

/** What people call it that fits. */
export function describeTarget({ python, platform }: WheelTarget): string {
  return `py3-none-any or cp${shortVersion(python).join("")}-…-${platform}`;
}

type Tag = readonly [python: string, abi: string, platform: string];

const known = new Map<string, readonly Tag[]>();

/** Made once for a target, as pages of indexes are long. */
function tagsFor(target: WheelTarget): readonly Tag[] {
  const key = `${target.python} ${target.platform}`;
  const tags = known.get(key) ?? tagsOf(target);
  known.set(key, tags);
  return tags;
}

/** From the best to the last. */
function tagsOf({ python, platform }: WheelTarget): Tag[] {
  const [major, minor] = shortVersion(python);
  const earlier = Array.from({ length: minor + 1 }, (_, index) => minor - index);
  const own = `cp${major}${minor}`;
  return [
    [own, own, platform],
    ...earlier.map((each): Tag => [`cp${major}${each}`, "abi3", platform]),
    [own, "none", platform],
    ...earlier.map((each): Tag => [`py${major}${each}`, "none", platform]),
    [`py${major}`, "none", platform],
    [own, "none", "any"],
    ...earlier.map((each): Tag => [`py${major}${each}`, "none", "any"]),
    [`py${major}`, "none", "any"],
  ];
}

function shortVersion(python: string): [major: number, minor: number] {
  const [major = 3, minor = 0] = python.split(".").map(Number);
  return [major, minor];
}
