import { normalizeName } from "../packages/requirement.js";
import { sitePackages } from "../packages/wheel-layout.js";
import { metadataFields } from "../packages/wheel-metadata.js";
import type { InstalledPackages, InstalledRecord } from "../protocol.js";
import { placeOf } from "./file-change.js";
import type { FileSystem } from "./filesystem.js";

/** What is looked at of what guests may have written: packages, bytes of one file and of all. */
const [mostPackages, longestMetadata, longestInAll] = [1000, 128 * 1024, 16 * 1024 * 1024];
/** What packages need: so many of one and of all, and characters in all, of which each takes some. */
const [mostNeeds, mostNeedsInAll, longestNeeds, leastNeed] = [1000, 20_000, 1024 * 1024, 64];
const mostWarnings = 20;
const longestSummary = 500;

/** The directory of one package in which it tells of itself. */
export interface DistInfo {
  /** Normalised. */
  readonly name: string;
  readonly version: string;
  readonly path: string;
}

/** The directories of all packages that lie in the sandbox. */
export function distInfosOf(files: FileSystem): DistInfo[] {
  const directory = placeOf(files, sitePackages, true)?.inode;
  if (directory?.kind !== "directory") return [];
  return [...directory.entries.keys()].flatMap((entry) => {
    const [, name = "", version = ""] = /^([^~-][^-]*)-([^-]+)\.dist-info$/.exec(entry) ?? [];
    return name === "" ? [] : [{ name: normalizeName(name), version, path: `${sitePackages}/${entry}` }];
  });
}

/** What the packages in the sandbox tell of themselves. What guests have spoilt is left out, and named. */
export function installedPackages(files: FileSystem): InstalledPackages {
  const warnings: string[] = [];
  const all = distInfosOf(files);
  if (all.length > mostPackages) warnings.push(`only ${mostPackages} of ${all.length} packages are looked at`);
  const left = { bytes: longestInAll, needs: mostNeedsInAll, characters: longestNeeds };
  const packages = all.slice(0, mostPackages).map((distInfo) => {
    const record = recordOf(files, distInfo, left, warnings);
    const { length } = record.requires;
    const characters = record.requires.reduce((sum, each) => sum + Math.max(each.length, leastNeed), 0);
    if (length <= mostNeeds && length <= left.needs && characters <= left.characters) {
      left.needs -= length;
      left.characters -= characters;
      return record;
    }
    warnings.push(`${record.title}: what it needs is too much to be looked at`);
    return { ...record, requires: [] };
  });
  return { packages, warnings: warnings.slice(0, mostWarnings) };
}

/** @param left From which the bytes are taken that are read. */
function recordOf(
  files: FileSystem,
  { name, version, path }: DistInfo,
  left: { bytes: number },
  warnings: string[],
): InstalledRecord {
  const nothing = { name, title: name, version, summary: "", requires: [] };
  if (left.bytes < longestMetadata) {
    warnings.push(`${name}: its METADATA is not looked at: that of the others is long`);
    return nothing;
  }
  const file = readText(files, `${path}/METADATA`, longestMetadata);
  left.bytes -= file?.bytes ?? 0;
  if (!file || (file.isCut && !/\n\r?\n/.test(file.text))) {
    warnings.push(`${name}: its METADATA ${file ? "is too long" : "is not there"}`);
    return nothing;
  }
  const valuesOf = metadataFields(file.text);
  const [title = name, summary = ""] = (["name", "summary"] as const).map((field) => valuesOf(field)[0]);
  const own = title.length <= name.length && normalizeName(title) === name ? title : name;
  return { name, title: own, version, summary: summary.slice(0, longestSummary), requires: valuesOf("requires-dist") };
}

/** The beginning of a file as text; undefined where there is none. */
export function readText(
  files: FileSystem,
  path: string,
  longest: number,
): { readonly text: string; readonly bytes: number; readonly isCut: boolean } | undefined {
  const inode = placeOf(files, path, true)?.inode;
  if (inode?.kind !== "file") return undefined;
  const bytes = Buffer.alloc(Math.min(inode.content.size, longest));
  inode.content.read(0, bytes);
  return { text: bytes.toString(), bytes: bytes.length, isCut: inode.content.size > longest };
}
