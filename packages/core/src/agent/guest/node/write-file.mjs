import { randomUUID } from "node:crypto";
import { accessSync, constants, linkSync, lstatSync, mkdirSync, readlinkSync, renameSync, unlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { AgentFailure } from "./failure.mjs";
import { requireRegular } from "./files.mjs";
import { laneNumber } from "./frames.mjs";

const defaultPermissions = 0o644;
/** As many links in a row as Linux follows. */
const maxLinks = 40;
/** Files that are being written beside their place. */
const unfinished = new Set();

/** Takes lane `in` to its end: appended in place, or beside the file and then put in its place in one step. */
export async function writeFile(request, stream) {
  const lane = stream.incoming.get(laneNumber.in);
  try {
    const target = request.mode === "exclusive" ? request.path : followLinks(request.path);
    const old = look(target);
    checkOld(old, request);
    if (old) accessSync(target, constants.W_OK);
    else mkdirSync(dirname(target), { recursive: true });
    return { bytes: await (request.mode === "append" ? append : replace)(target, old, lane, request) };
  } finally {
    lane.close();
  }
}

/** Removes what writes that will not end have left. */
export function dropUnfinished() {
  for (const path of unfinished) {
    if (look(path)) unlinkSync(path);
  }
}

/** What must hold of the file that is there, or not there, for the write to go on. */
function checkOld(old, { path, mode, ifModifiedAt }) {
  if (old && mode === "exclusive") throw new AgentFailure("EEXIST", `${path} is there already`);
  if (old) requireRegular(old, path);
  if (ifModifiedAt === null) return;
  const now = old ? Math.floor(old.mtimeMs) : null;
  if (now === ifModifiedAt) return;
  const what = now === null ? "is not there" : `was changed at ${new Date(now).toISOString()}`;
  throw new AgentFailure("ESTALE", `${path} ${what}, not changed at ${new Date(ifModifiedAt).toISOString()}`);
}

async function append(target, old, lane, { path, permissions }) {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
  const file = await open(target, flags, defaultPermissions);
  try {
    requireRegular(await file.stat(), path);
    const bytes = await fill(file, lane);
    const mode = permissions ?? (old ? null : defaultPermissions);
    if (mode !== null) await file.chmod(mode);
    return bytes;
  } finally {
    await file.close();
  }
}

async function replace(target, old, lane, request) {
  const fresh = `${dirname(target)}/.sandkit-${randomUUID()}`;
  const file = await open(fresh, "wx", 0o600);
  unfinished.add(fresh);
  try {
    let bytes;
    try {
      bytes = await fill(file, lane);
      await file.chmod(request.permissions ?? (old ? old.mode & 0o7777 : defaultPermissions));
      if (old) await dress(file, old);
    } finally {
      await file.close();
    }
    commit(fresh, target, request);
    return bytes;
  } finally {
    if (look(fresh)) unlinkSync(fresh);
    unfinished.delete(fresh);
  }
}

/** Keeps the owner, and moves the time on: two writes within a millisecond must differ for `ifModifiedAt`. */
async function dress(file, old) {
  const now = await file.stat();
  if (now.uid !== old.uid || now.gid !== old.gid) {
    await file.chown(old.uid, old.gid);
    await file.chmod(now.mode & 0o7777);
  }
  const before = Math.floor(old.mtimeMs);
  // Half a millisecond more: what the call rounds must not end in the millisecond before.
  if (Math.floor(now.mtimeMs) <= before) await file.utimes(now.atime, (before + 1.5) / 1000);
}

/** Synchronous, so that no other write of this agent comes between the last look and the change. */
function commit(fresh, target, request) {
  checkOld(look(target), request);
  if (request.mode === "exclusive") linkSync(fresh, target);
  else renameSync(fresh, target);
}

async function fill(file, lane) {
  let bytes = 0;
  for (let piece = await lane.next(); piece !== null; piece = await lane.next()) {
    await file.writeFile(piece);
    bytes += piece.length;
    lane.handedOn(piece.length);
  }
  return bytes;
}

function look(path) {
  return lstatSync(path, { throwIfNoEntry: false });
}

/** The path that a chain of links leads to, also when nothing is there. */
function followLinks(path) {
  let target = path;
  for (let count = 0; count <= maxLinks; count++) {
    try {
      target = resolve(dirname(target), readlinkSync(target));
    } catch (error) {
      if (error.code === "EINVAL" || error.code === "ENOENT") return target;
      throw error;
    }
  }
  throw new AgentFailure("ELOOP", `${path}: more than ${maxLinks} links in a row`);
}
