import { normalizeName } from "./requirement.js";
import { parseVersion, type Version } from "./version.js";

/** What the name of a wheel tells. */
export interface WheelName {
  readonly name: string;
  readonly version: Version;
  readonly build: number;
  /** Each as `python-abi-platform`. */
  readonly tags: readonly string[];
}

/** The Python that wheels are for. */
export interface WheelTarget {
  /** Full version, such as `3.14.2`. */
  readonly python: string;
  /** The platform's tag, such as `pyemscripten_2026_0_wasm32`. */
  readonly platform: string;
}

/** Undefined for what is no name of a wheel. */
export function parseWheelName(filename: string): WheelName | undefined {
  const parts = filename.endsWith(".whl") ? filename.slice(0, -4).split("-") : [];
  if (parts.length < 5 || parts.length > 6) return undefined;
  const [platforms = "", abis = "", pythons = ""] = parts.reverse();
  const [versionText = "", name = ""] = parts.length === 6 ? parts.slice(4) : parts.slice(3);
  const version = parseVersion(versionText.replaceAll("_", "-"));
  if (!version || !/^[a-z0-9._]+$/i.test(name)) return undefined;
  const tags = pythons
    .split(".")
    .flatMap((python) => abis.split(".").flatMap((abi) => platforms.split(".").map((at) => `${python}-${abi}-${at}`)));
  const build = parts.length === 6 ? Number.parseInt(parts[3] ?? "", 10) || 0 : 0;
  return { name: normalizeName(name), version, build, tags };
}

/** How well a wheel fits: the higher the better, 0 when it does not. Compiled ones go before plain Python. */
export function wheelFit({ tags }: WheelName, target: WheelTarget): number {
  const known = tagsOf(target);
  const places = tags.map((tag) => known.indexOf(tag)).filter((place) => place >= 0);
  return places.length === 0 ? 0 : known.length - Math.min(...places);
}

/** What people call it that fits. */
export function describeTarget({ python, platform }: WheelTarget): string {
  return `py3-none-any or cp${shortVersion(python).join("")}-…-${platform}`;
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
