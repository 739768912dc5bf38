import { randomUUID } from "node:crypto";
import { linkSync, lstatSync, renameSync, type Stats } from "node:fs";
import { access, type FileHandle, mkdir, constants as mode, open, readlink, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { WriteOptions } from "@sandkit/core";
import { failure, hasErrno, onPath } from "./errors.js";
import { requireRegular } from "./file-info.js";

const defaultPermissions = 0o644;
/** As many links in a row as Linux follows. */
const maxLinks = 40;

/** A failure of the caller's own stream, which must reach him as it is, whatever it looks like. */
class SourceFailure {
  readonly reason: unknown;
  constructor(reason: unknown) {
    this.reason = reason;
  }
}

/** Writes a whole file: appended in place, or beside it and then put in its place in one step. */
export async function writeFile(path: string, data: ReadableStream<Uint8Array>, options: WriteOptions): Promise<void> {
  try {
    await onPath("files.write", path, () => write(path, data, options));
  } catch (error) {
    const reason = error instanceof SourceFailure ? error.reason : error;
    // A source that cannot be told to stop changes nothing about why the write failed.
    if (!data.locked) await data.cancel(reason).catch(() => undefined);
    throw reason;
  }
}

async function write(path: string, data: ReadableStream<Uint8Array>, options: WriteOptions): Promise<void> {
  const target = options.mode === "exclusive" ? path : await followLinks(path);
  const old = look(target);
  checkOld(old, path, options);
  if (old) await access(target, mode.W_OK);
  else await mkdir(dirname(target), { recursive: true });
  if (options.mode === "append") await append(target, data, old, options);
  else await replace(path, target, data, old, options);
}

/** What must hold of the file that is there, or not there, for the write to go on. */
function checkOld(old: Stats | undefined, path: string, options: WriteOptions): void {
  const subject = `files.write ${JSON.stringify(path)}`;
  if (old && options.mode === "exclusive") {
    throw failure(
      "FILE_EXISTS",
      "files.write",
      `${subject}: something has this name already; remove it or use "truncate"`,
    );
  }
  if (old) requireRegular(old, "files.write", path);
  if (options.ifModifiedAt && old?.mtime.getTime() !== options.ifModifiedAt.getTime()) {
    const now = old ? `was changed at ${old.mtime.toISOString()}` : "is not there";
    const then = options.ifModifiedAt.toISOString();
    throw failure("CONFLICT", "files.write", `${subject}: the file ${now}, not at ${then}; read it again, then write`);
  }
}

async function append(
  target: string,
  data: ReadableStream<Uint8Array>,
  old: Stats | undefined,
  options: WriteOptions,
): Promise<void> {
  const file = await open(target, "a");
  try {
    await fill(file, data, options.signal);
    const permissions = options.permissions ?? (old ? undefined : defaultPermissions);
    if (permissions !== undefined) await file.chmod(permissions);
  } finally {
    await file.close();
  }
}

async function replace(
  path: string,
  target: string,
  data: ReadableStream<Uint8Array>,
  old: Stats | undefined,
  options: WriteOptions,
): Promise<void> {
  const fresh = `${dirname(target)}/.sandkit-${randomUUID()}`;
  const file = await open(fresh, "wx");
  try {
    try {
      await fill(file, data, options.signal);
      await file.chmod(options.permissions ?? (old ? old.mode & 0o7777 : defaultPermissions));
      if (old) await dress(file, old);
    } finally {
      await file.close();
    }
    commit(path, fresh, target, options);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
  if (options.mode === "exclusive") await rm(fresh);
}

/** Keeps the owner, and moves the time on: two writes within a millisecond must differ for `ifModifiedAt`. */
async function dress(file: FileHandle, old: Stats): Promise<void> {
  const now = await file.stat();
  if (now.uid !== old.uid || now.gid !== old.gid) await file.chown(old.uid, old.gid);
  if (now.mtime.getTime() <= old.mtime.getTime()) await file.utimes(now.atime, new Date(old.mtime.getTime() + 1));
}

/** Synchronous, so that no other write of this process comes between the last look and the change. */
function commit(path: string, fresh: string, target: string, options: WriteOptions): void {
  options.signal?.throwIfAborted();
  checkOld(look(target), path, options);
  if (options.mode === "exclusive") linkSync(fresh, target);
  else renameSync(fresh, target);
}

async function fill(file: FileHandle, data: ReadableStream<Uint8Array>, signal: AbortSignal | undefined) {
  const reader = data.getReader();
  // Ends a read that waits; what is thrown then is the reason of the signal, whatever the source says to this.
  const stop = () => reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await reader.read().catch((reason) => {
        throw new SourceFailure(reason);
      });
      if (done) break;
      await file.writeFile(value);
    }
    signal?.throwIfAborted();
  } catch (error) {
    await reader.cancel(error).catch(() => undefined);
    throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** The path that a chain of links leads to, also when nothing is there. */
async function followLinks(path: string): Promise<string> {
  let target = path;
  for (let count = 0; count <= maxLinks; count++) {
    try {
      target = resolve(dirname(target), await readlink(target));
    } catch (error) {
      if (hasErrno(error, "EINVAL", "ENOENT")) return target;
      throw error;
    }
  }
  throw failure(
    "INVALID",
    "files.write",
    `files.write ${JSON.stringify(path)}: more than ${maxLinks} links; name the file itself`,
  );
}
