import { normalizeName } from "../packages/requirement.js";
import { sitePackages } from "../packages/wheel-layout.js";
import { metadataFields } from "../packages/wheel-metadata.js";
import type { InstalledPackages, InstalledRecord } from "../protocol.js";
import { placeOf } from "./file-change.js";
import type { FileSystem } from "./filesystem.js";

/** What is looked at of what guests may have written: packages, bytes of one file, and characters of what they need. */
const [mostPackages, longestMetadata, longestNeeds] = [1000, 128 * 1024, 1024 * 1024];
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
  let left = longestNeeds;
  const packages = all.slice(0, mostPackages).map((distInfo) => {
    const record = recordOf(files, distInfo, warnings);
    const size = record.requires.reduce((sum, { length }) => sum + length, 0);
    left -= size;
    if (left >= 0) return record;
    left += size;
    warnings.push(`${record.title}: what it needs is too much to be looked at`);
    return { ...record, requires: [] };
  });
  return { packages, warnings: warnings.slice(0, mostWarnings) };
}

function recordOf(files: FileSystem, { name, version, path }: DistInfo, warnings: string[]): InstalledRecord {
  const nothing = { name, title: name, version, summary: "", requires: [] };
  const file = readText(files, `${path}/METADATA`, longestMetadata);
  if (!file || (file.isCut && !/\n\r?\n/.test(file.text))) {
    warnings.push(`${name}: its METADATA ${file ? "is too long" : "is not there"}`);
    return nothing;
  }
  const valuesOf = metadataFields(file.text);
  const [title = name, summary = ""] = ["name", "summary"].map((field) => valuesOf(field)[0]);
  const own = title.length <= name.length && normalizeName(title) === name ? title : name;
  return { name, title: own, version, summary: summary.slice(0, longestSummary), requires: valuesOf("requires-dist") };
}

/** The beginning of a file as text; undefined where there is none. */
export function readText(
  files: FileSystem,
  path: string,
  longest: number,
): { readonly text: string; readonly isCut: boolean } | undefined {
  const inode = placeOf(files, path, true)?.inode;
  if (inode?.kind !== "file") return undefined;
  const bytes = Buffer.alloc(Math.min(inode.content.size, longest));
  inode.content.read(0, bytes);
  return { text: bytes.toString(), isCut: inode.content.size > longest };
}
