import { posix } from "node:path";
import type { FileInfo } from "@sandkit/core";
import type { EntryInfo } from "./filesystem-messages.js";

const types = {
  file: "FILE_TYPE_FILE",
  directory: "FILE_TYPE_DIRECTORY",
  symlink: "FILE_TYPE_SYMLINK",
  other: "FILE_TYPE_UNSPECIFIED",
} as const;
const letters = { file: "-", directory: "d", symlink: "L", other: "?" } as const;

/** A file as envd tells of it. Everything is the one user's of the box. */
export function entryInfo(info: FileInfo): EntryInfo {
  const mode = info.mode & 0o777;
  return {
    name: posix.basename(info.path),
    type: types[info.type],
    path: info.path,
    size: String(info.size),
    mode,
    permissions: letters[info.type] + permissionLetters(mode),
    owner: "user",
    group: "user",
    modifiedTime: info.modifiedAt.toISOString(),
    ...(info.symlinkTarget !== undefined && {
      symlinkTarget: posix.resolve(posix.dirname(info.path), info.symlinkTarget),
    }),
  };
}

function permissionLetters(mode: number): string {
  return Array.from("rwxrwxrwx", (letter, index) => (mode & (0o400 >> index) ? letter : "-")).join("");
}
