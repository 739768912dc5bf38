import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readlinkSync, renameSync, statSync, symlinkSync } from "node:fs";
import { lstat, readdir, rename, rmdir, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { AgentFailure, about } from "./failure.mjs";

const removalTries = 3;
/** Names of 255 bytes on this many levels still make a path. */
const maxDepth = 8;

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
  else if (recursive) await removeTree(Buffer.from(path));
  else throw new AgentFailure("EISDIR", `${path} is a directory`);
  return { removed: true };
}

/** By bytes: a name need not be text. What is too deep for a path is moved up first. */
async function removeTree(root) {
  const found = [];
  const clear = async (folder, depth) => {
    for (const entry of await readdir(folder, { encoding: "buffer", withFileTypes: true })) {
      const path = Buffer.concat([folder, Buffer.from("/"), entry.name]);
      if (!entry.isDirectory()) await unlessGone(() => unlink(path));
      else if (depth < maxDepth) await unlessGone(() => removeFolder(path, () => clear(path, depth + 1)));
      else await unlessGone(() => moveUp(path));
    }
  };
  const moveUp = async (path) => {
    const place = Buffer.concat([root, Buffer.from(`/.sandkit-${randomUUID()}`)]);
    await rename(path, place);
    found.push(place);
  };
  await removeFolder(root, async () => {
    await clear(root, 0);
    for (let next = found.pop(); next; next = found.pop()) {
      const folder = next;
      await unlessGone(() => removeFolder(folder, () => clear(folder, 1)));
    }
  });
}

async function removeFolder(folder, clear) {
  for (let tries = 1; ; tries++) {
    await clear();
    try {
      return await rmdir(folder);
    } catch (error) {
      // Somebody puts files into it meanwhile.
      if (error.code !== "ENOTEMPTY" || tries === removalTries) throw error;
    }
  }
}

/** Undefined for what was removed between being seen and being looked at. */
export async function unlessGone(step) {
  try {
    return await step();
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Looks at a file by bytes of its path. */
export const lookAt = (path) => lstat(path);

/** Refuses what cannot be read or written as a whole: a pipe or a device may hang, or never end. */
export function requireRegular(found, path) {
  if (found.isFile()) return;
  if (found.isDirectory()) throw new AgentFailure("EISDIR", `${path} is a directory`);
  throw new AgentFailure("EINVAL", `${path} is a pipe, socket or device`);
}
