import { posix } from "node:path";
import { BadArchive } from "../packages/bad-archive.js";
import { normalizeName } from "../packages/requirement.js";
import { type PlacedFile, type PreparedArchive, placeFiles, sitePackages } from "../packages/wheel-layout.js";
import { FileError } from "./file-error.js";
import type { DirectoryInode, FileSystem } from "./filesystem.js";
import { resolvePath } from "./path-resolver.js";

/** Unpacks an archive whose bytes the caller has verified. What it holds is checked here all the same. All or nothing. */
export function installArchive(files: FileSystem, archive: PreparedArchive): void {
  const written: string[] = [];
  try {
    const placed = placeFiles(archive);
    const total = placed.reduce((sum, { size }) => sum + size, 0);
    // Before anything is unpacked: what an archive announces is more than it can become.
    if (files.quota.used + total > files.quota.limit) throw new FileError("ENOSPC", archive.filename);
    for (const file of placed) {
      write(files, file);
      written.push(file.path);
    }
  } catch (error) {
    for (const path of written) removeFile(files, path);
    if (error instanceof BadArchive) throw new FileError("EBADMSG", `${archive.filename} ${error.message}`);
    throw error;
  }
}

function write(files: FileSystem, { path, mode, read }: PlacedFile): void {
  const { parent, name } = resolvePath(files, path, { followLast: false, makeParents: true });
  const file = files.hold(files.detachedFile(mode));
  try {
    files.write(file, 0, read());
    files.replace(parent, name, file);
  } finally {
    files.release(file);
  }
}

const longestRecord = 16 * 1024 * 1024;
/** The only place that packages are removed from, whatever the guest has written into their records. */
const removable = "/usr/local/";

/** Removes a package by its own record of its files. False when there is none of that name. */
export function uninstallPackage(files: FileSystem, name: string): boolean {
  const { inode: directory } = resolvePath(files, sitePackages, { followLast: true });
  if (directory?.kind !== "directory") return false;
  const found = [...directory.entries.keys()].filter((entry) => isDistInfo(entry, name));
  for (const distInfo of found) {
    const paths = recordOf(files, `${sitePackages}/${distInfo}`).filter((path) => path.startsWith(removable));
    for (const path of paths) removeFile(files, path);
    for (const path of paths.flatMap(compiledFrom)) removeFile(files, path);
    const left = resolvePath(files, `${sitePackages}/${distInfo}`, { followLast: false });
    if (left.inode) files.removeTree(left.parent, distInfo);
  }
  return found.length > 0;
}

/** Where Python keeps what it has compiled from a source: a directory that stays would still be a package. */
function compiledFrom(path: string): string[] {
  const { dir, name, ext } = posix.parse(path);
  return ext === ".py" ? [`${dir}/__pycache__/${name}.cpython-314.pyc`] : [];
}

function isDistInfo(entry: string, name: string): boolean {
  const [own = ""] = entry.split("-");
  return entry.endsWith(".dist-info") && normalizeName(own) === name;
}

function recordOf(files: FileSystem, distInfo: string): string[] {
  const { inode } = resolvePath(files, `${distInfo}/RECORD`, { followLast: false });
  if (inode?.kind !== "file" || inode.content.size > longestRecord) return [];
  const bytes = Buffer.alloc(inode.content.size);
  inode.content.read(0, bytes);
  return bytes
    .toString()
    .split("\n")
    .map((line) => /^(?:"((?:[^"]|"")*)"|([^,]*)),/.exec(line.trim()))
    .flatMap((match) => (match ? [(match[1] ?? match[2] ?? "").replaceAll('""', '"')] : []))
    .map((path) => posix.resolve(sitePackages, path));
}

/** Removes a file, and the directories that it leaves empty. Content with what is not there. */
function removeFile(files: FileSystem, path: string): void {
  const place = placeOf(files, path);
  if (!place?.inode || place.inode.kind === "directory") return;
  files.unlink(place.parent, place.name);
  let at = place.parent;
  while (at.entries.size === 0 && at.parent !== at && !isKept(files, at)) {
    const name = [...at.parent.entries].find(([, inode]) => inode === at)?.[0];
    if (name === undefined) return;
    const { parent } = at;
    files.removeDirectory(parent, name);
    at = parent;
  }
}

function isKept(files: FileSystem, directory: DirectoryInode): boolean {
  return placeOf(files, sitePackages)?.inode === directory;
}

function placeOf(files: FileSystem, path: string): ReturnType<typeof resolvePath> | undefined {
  try {
    return resolvePath(files, path, { followLast: false });
  } catch (error) {
    if (error instanceof FileError && (error.errno === "ENOENT" || error.errno === "ENOTDIR")) return undefined;
    throw error;
  }
}
