import { posix } from "node:path";
import { type FileInfo, type Files, SandboxError } from "@sandkit/core";
import type { EntryInfo } from "./filesystem-messages.js";

const types = {
  file: "FILE_TYPE_FILE",
  directory: "FILE_TYPE_DIRECTORY",
  symlink: "FILE_TYPE_SYMLINK",
  other: "FILE_TYPE_UNSPECIFIED",
} as const;
const letters = { file: "-", directory: "d", symlink: "L", other: "?" } as const;
const mostLinks = 40;

/**
 * A file as envd tells of it: type and mode of a link are those of what it leads to, everything else is its own. All
 * is owned by the one user of the box.
 */
export async function entryInfo(files: Files, info: FileInfo): Promise<EntryInfo> {
  const target = info.type === "symlink" ? await followLink(files, info) : undefined;
  const { type, mode } = info.type === "symlink" ? (target ?? { type: "other", mode: 0 }) : info;
  return {
    name: posix.basename(info.path),
    type: types[type],
    path: info.path,
    size: String(info.size),
    mode: mode & 0o777,
    permissions: letters[info.type] + permissionLetters(info.mode),
    owner: "user",
    group: "user",
    modifiedTime: info.modifiedAt.toISOString(),
    ...(info.type === "symlink" && { symlinkTarget: target?.path ?? info.path }),
  };
}

/** What a link leads to in the end; undefined when that is nothing. */
async function followLink(files: Files, link: FileInfo): Promise<FileInfo | undefined> {
  let found = link;
  for (let links = 0; found.type === "symlink"; links += 1) {
    const next = await lookUp(files, posix.resolve(posix.dirname(found.path), found.symlinkTarget ?? ""));
    if (!next || links === mostLinks) return undefined;
    found = next;
  }
  return found;
}

/** What is at a path itself; undefined when nothing is. */
export async function lookUp(files: Files, path: string): Promise<FileInfo | undefined> {
  try {
    return await files.stat(path, { followSymlinks: false });
  } catch (error) {
    if (error instanceof SandboxError && (error.code === "FILE_NOT_FOUND" || error.code === "NOT_DIRECTORY")) {
      return undefined;
    }
    throw error;
  }
}

function permissionLetters(mode: number): string {
  return Array.from("rwxrwxrwx", (letter, index) => (mode & (0o400 >> index) ? letter : "-")).join("");
}
