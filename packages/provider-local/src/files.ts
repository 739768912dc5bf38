import { lstat, mkdir, rename, rm, stat, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import type { ProviderFiles } from "@sandkit/core";
import { failure, hasErrno, onPath } from "./errors.js";
import { fileInfo } from "./file-info.js";
import { listDirectory } from "./list-directory.js";
import { readFile } from "./read-file.js";
import { writeFile } from "./write-file.js";

/** The files of the host. Nothing keeps a path inside the sandbox's folder: this provider isolates nothing. */
export const localFiles: ProviderFiles = {
  read: (path, options = {}) => onPath("files.read", path, () => readFile(path, options)),

  write: writeFile,

  list: (path, options = {}) => onPath("files.list", path, () => listDirectory(path, options)),

  stat: (path, { followSymlinks }) =>
    onPath("files.stat", path, async () => fileInfo(path, await (followSymlinks ? stat(path) : lstat(path)))),

  mkdir: (path) =>
    onPath("files.mkdir", path, async () => {
      await mkdir(path, { recursive: true });
    }),

  move: (from, to) =>
    onPath("files.move", from, async () => {
      await lstat(from);
      await onPath("files.move", to, async () => {
        await mkdir(dirname(to), { recursive: true });
        await rename(from, to);
      });
    }),

  remove: (path, { recursive }) =>
    onPath("files.remove", path, async () => {
      const found = await lstat(path).catch((error) => {
        if (hasErrno(error, "ENOENT")) return null;
        throw error;
      });
      if (!found) return false;
      if (found.isDirectory() && !recursive) {
        throw failure(
          "IS_DIRECTORY",
          "files.remove",
          `files.remove ${JSON.stringify(path)}: a directory needs "recursive"`,
        );
      }
      await rm(path, { recursive, maxRetries: 3 });
      return true;
    }),

  symlink: (target, path) =>
    onPath("files.symlink", path, async () => {
      await mkdir(dirname(path), { recursive: true });
      await symlink(target, path);
    }),
};
