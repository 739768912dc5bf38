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
 * @throws FileError `ENOSPC`, also where there is room for the new only once the old is gone; `EBADMSG`; `EOVERFLOW`
 *   for records of what is removed that are too long
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
    const allowance = new Allowance();
    removed = remove.filter((name) => removePackage(files, change, name, allowance));
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
/** Of all records that one change follows, which guests may have written: bytes, entries, and characters of a path. */
const [longestRecords, mostEntries, longestEntry] = [8 * 1024 * 1024, 300_000, 4096];
/** A way through many links takes long: the broker has others to answer. */
const longestRemovalMs = 4000;

/** What removing may still cost in one change. */
class Allowance {
  #bytes = longestRecords;
  #entries = mostEntries;
  readonly #end = performance.now() + longestRemovalMs;

  /** @throws FileError `EOVERFLOW` */
  take(cost: { readonly bytes?: number; readonly entries?: number }): void {
    this.#bytes -= cost.bytes ?? 0;
    this.#entries -= cost.entries ?? 0;
    if (this.#bytes < 0 || this.#entries < 0 || performance.now() > this.#end)
      throw new FileError("EOVERFLOW", "the record of a package");
  }
}

/** Removes a package by its own record of its files. False when there is none of that name. @throws FileError */
function removePackage(files: FileSystem, change: FileChange, name: string, allowance: Allowance): boolean {
  const found = distInfosOf(files).filter((distInfo) => distInfo.name === name);
  for (const { path } of found) {
    const own = recordOf(files, path, allowance).filter((each) => removable.some((place) => each.startsWith(place)));
    for (const each of [...own, ...own.flatMap(compiledFrom)]) {
      allowance.take({ entries: 1 });
      change.remove(each);
    }
    change.removeTree(path);
  }
  return found.length > 0;
}

/** Where Python keeps what it has compiled from a source: a directory that stays would still be a package. */
function compiledFrom(path: string): string[] {
  const { dir, name, ext } = posix.parse(path);
  return ext === ".py" ? [`${dir}/__pycache__/${name}.cpython-314.pyc`] : [];
}

function recordOf(files: FileSystem, distInfo: string, allowance: Allowance): string[] {
  const record = readText(files, `${distInfo}/RECORD`, longestRecords + 1);
  allowance.take({ bytes: record?.bytes ?? 0 });
  const lines = record?.text.split("\n") ?? [];
  allowance.take({ entries: lines.length });
  return lines.flatMap((line) => {
    const match = line.length > longestEntry ? null : /^(?:"((?:[^"]|"")*)"|([^,]*)),/.exec(line.trim());
    return match ? [posix.resolve(sitePackages, (match[1] ?? match[2] ?? "").replaceAll('""', '"'))] : [];
  });
}

function readable<Result>(filename: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadArchive) throw new FileError("EBADMSG", `${filename} ${error.message}`);
    throw error;
  }
}
