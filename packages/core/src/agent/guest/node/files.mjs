import { lstatSync, mkdirSync, readlinkSync, renameSync, statSync, symlinkSync } from "node:fs";
import { lstat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { AgentFailure, about } from "./failure.mjs";
import { removeTree } from "./remove-tree.mjs";

/** The record of protocol.ts for what `stat` or `lstat` found. */
export function fileInfo(path, name, found) {
  const record = { path: name, size: found.size, mode: found.mode & 0o7777, modifiedAt: Math.floor(found.mtimeMs) };
  if (found.isSymbolicLink()) {
    try {
      return { ...record, type: "symlink", symlinkTarget: readlinkSync(path, "buffer").toString() };
    } catch (error) {
      if (error.code !== "EINVAL") throw error;
      // No link any more: what has replaced it is told instead.
      return fileInfo(path, name, lstatSync(path));
    }
  }
  return { ...record, type: found.isDirectory() ? "directory" : found.isFile() ? "file" : "other" };
}

export function statFile({ path, followSymlinks }) {
  return fileInfo(path, path, followSymlinks ? statSync(path) : lstatSync(path));
}

export function makeDirectory({ path }) {
  mkdirSync(path, { recursive: true });
  return {};
}

export function moveFile({ from, to }) {
  about(from, () => lstatSync(from));
  about(to, () => {
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  });
  return {};
}

export function makeSymlink({ target, path }) {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
  return {};
}

export async function removeFile({ path, recursive }) {
  if (path === "/") throw new AgentFailure("EBUSY", "the root is not removed");
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return { removed: false };
  if (!found.isDirectory()) await unlink(path);
  else if (recursive) await removeTree(path);
  else throw new AgentFailure("EISDIR", `${path} is a directory`);
  return { removed: true };
}

/** Looks at a file by bytes of its path. */
export const lookAt = (path) => lstat(path);

/** Refuses what cannot be read or written as a whole: a pipe or a device may hang, or never end. */
export function requireRegular(found, path) {
  if (found.isFile()) return;
  if (found.isDirectory()) throw new AgentFailure("EISDIR", `${path} is a directory`);
  throw new AgentFailure("EINVAL", `${path} is a pipe, socket or device`);
}
