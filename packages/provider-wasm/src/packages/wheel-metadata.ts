import { BadArchive } from "./bad-archive.js";
import { normalizeName, parseRequirement, type Requirement } from "./requirement.js";
import { parseSpecifiers, type Specifier } from "./specifier.js";
import { isSameVersion } from "./version.js";
import { listZip, readZip, type ZipEntry } from "./zip.js";

/** What a wheel says of itself. */
export interface WheelMetadata {
  readonly requires: readonly Requirement[];
  readonly python: readonly Specifier[];
  /** Normalised names of what may be asked for besides. */
  readonly extras: readonly string[];
}

/** Of one package: each may cost a request. */
const mostRequirements = 1000;
const longestMetadata = 4 * 1024 * 1024;
/** On the Python, in characters. */
const longestConditions = 2000;

/** Reads the text of a `METADATA` file. @throws BadArchive naming the line that is wrong */
export function parseMetadata(text: string): WheelMetadata {
  const valuesOf = metadataFields(text);
  const requires = valuesOf("requires-dist");
  if (requires.length > mostRequirements) throw new BadArchive(`needs ${requires.length} others`);
  const [python = ""] = valuesOf("requires-python");
  if (python.length > longestConditions) throw new BadArchive("has too long a condition on its Python");
  try {
    return {
      requires: requires.map(parseRequirement),
      python: parseSpecifiers(python),
      extras: valuesOf("provides-extra").map(normalizeName),
    };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new BadArchive(`has metadata that cannot be read: ${error.message}`, { cause: error });
  }
}

/** Of a `METADATA` file, those that anybody here asks for. */
const fieldNames = ["name", "summary", "requires-dist", "requires-python", "provides-extra"] as const;
const field = new RegExp(`(?:^|\\n)(${fieldNames.join("|")}):([^\\n]*)`, "gi");

/** The fields of a `METADATA` file: gives the values of one. */
export function metadataFields(text: string): (name: (typeof fieldNames)[number]) => readonly string[] {
  const [head = ""] = text.replaceAll("\r\n", "\n").split("\n\n", 1);
  const values = new Map<string, string[]>(fieldNames.map((name) => [name, []]));
  for (const [, name = "", value = ""] of head.replace(/\n[ \t]+/g, " ").matchAll(field)) {
    values.get(name.toLowerCase())?.push(value.trim());
  }
  return (name) => values.get(name) ?? [];
}

/** Reads the metadata out of a wheel of this name and version. @throws BadArchive */
export function readWheelMetadata(bytes: Buffer, name: string, version: string): WheelMetadata {
  const entries = listZip(bytes);
  const path = `${distInfoOf(entries, name, version)}/METADATA`;
  const entry = entries.find((candidate) => candidate.name === path);
  if (!entry || entry.size > longestMetadata) throw new BadArchive("has no METADATA");
  return parseMetadata(readZip(bytes, entry).toString());
}

/** The directory in which a wheel tells of itself. @throws BadArchive where it tells of another package or version */
export function distInfoOf(entries: readonly ZipEntry[], name: string, version: string): string {
  const tops = new Set(entries.map((entry) => entry.name.split("/")[0] ?? ""));
  const own = [...tops].filter((top) => top.endsWith(".dist-info"));
  const [directory] = own;
  if (own.length !== 1 || directory === undefined) throw new BadArchive("is no wheel: it has no dist-info of its own");
  const [written = "", of = ""] = directory.slice(0, -".dist-info".length).split("-");
  if (normalizeName(written) !== name || !isSameVersion(of.replaceAll("_", "-"), version))
    throw new BadArchive(`tells of another package: ${directory}`);
  return directory;
}
