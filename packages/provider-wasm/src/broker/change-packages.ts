import { posix } from "node:path";
import { BadArchive } from "../packages/bad-archive.js";
import { scriptDirectory } from "../packages/script-directory.js";
import { libraryDirectory, placeFiles, sitePackages } from "../packages/wheel-layout.js";
import type { PackageChange } from "../protocol.js";
import { FileChange } from "./file-change.js";
import { FileError } from "./file-error.js";
import type { FileSystem } from "./filesystem.js";
import { distInfosOf, readText } from "./installed-packages.js";

/**
 * Removes packages, and unpacks archives whose bytes the caller has verified: all of it or nothing. What archives hold
 * is checked here all the same.
 * @returns the names of those that were there to be removed
 * @throws FileError `ENOSPC`, also where there is room for the new only once the old is gone; `EBADMSG`
 */
export function changePackages(files: FileSystem, { remove, archives }: PackageChange): string[] {
  const unpacking = archives.map((archive) => ({
    filename: archive.filename,
    placed: readable(archive.filename, () => placeFiles(archive)),
  }));
  const total = unpacking.flatMap(({ placed }) => placed).reduce((sum, { size }) => sum + size, 0);
  // Before anything is unpacked: what an archive announces is more than it can become.
  if (files.quota.used + total > files.quota.limit) throw new FileError("ENOSPC", "the packages");
  const change = new FileChange(files, [sitePackages, scriptDirectory, libraryDirectory]);
  let removed: string[];
  try {
    removed = remove.filter((name) => removePackage(files, change, name));
    for (const { filename, placed } of unpacking) {
      for (const { path, mode, read } of placed) change.put(path, mode, readable(filename, read));
    }
  } catch (error) {
    change.rollback();
    throw error;
  }
  change.commit();
  return removed;
}

/** The only places that packages are removed from, whatever the guest has written into their records. */
const removable = ["/usr/local/", `${libraryDirectory}/`];
const longestRecord = 4 * 1024 * 1024;

/** Removes a package by its own record of its files. False when there is none of that name. */
function removePackage(files: FileSystem, change: FileChange, name: string): boolean {
  const found = distInfosOf(files).filter((distInfo) => distInfo.name === name);
  for (const { path } of found) {
    const own = recordOf(files, path).filter((each) => removable.some((place) => each.startsWith(place)));
    for (const each of own) change.remove(each);
    for (const each of own.flatMap(compiledFrom)) change.remove(each);
    change.removeTree(path);
  }
  return found.length > 0;
}

/** Where Python keeps what it has compiled from a source: a directory that stays would still be a package. */
function compiledFrom(path: string): string[] {
  const { dir, name, ext } = posix.parse(path);
  return ext === ".py" ? [`${dir}/__pycache__/${name}.cpython-314.pyc`] : [];
}

function recordOf(files: FileSystem, distInfo: string): string[] {
  return (readText(files, `${distInfo}/RECORD`, longestRecord)?.text ?? "")
    .split("\n")
    .map((line) => /^(?:"((?:[^"]|"")*)"|([^,]*)),/.exec(line.trim()))
    .flatMap((match) => (match ? [(match[1] ?? match[2] ?? "").replaceAll('""', '"')] : []))
    .map((path) => posix.resolve(sitePackages, path));
}

function readable<Result>(filename: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadArchive) throw new FileError("EBADMSG", `${filename} ${error.message}`);
    throw error;
  }
}
