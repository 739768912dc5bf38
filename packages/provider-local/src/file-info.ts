import type { Stats } from "node:fs";
import { readlink } from "node:fs/promises";
import type { FileInfo } from "@sandkit/core";
import { failure } from "./errors.js";

/** The record of the contract for what `stat` or `lstat` found at a path. */
export async function fileInfo(path: string, found: Stats): Promise<FileInfo> {
  const record = { path, size: found.size, mode: found.mode & 0o7777, modifiedAt: found.mtime };
  if (found.isSymbolicLink()) return { ...record, type: "symlink", symlinkTarget: await readlink(path) };
  if (found.isDirectory()) return { ...record, type: "directory" };
  return { ...record, type: found.isFile() ? "file" : "other" };
}

/** Refuses what cannot be read or written as a whole: a pipe or a device may hang, or never end. */
export function requireRegular(found: Stats, operation: string, path: string): void {
  if (found.isFile()) return;
  const subject = `${operation} ${JSON.stringify(path)}`;
  if (found.isDirectory()) throw failure("IS_DIRECTORY", operation, `${subject}: it is a directory; name a file in it`);
  throw failure("INVALID", operation, `${subject}: it is a pipe, socket or device; use a command for it`);
}
