import { createWriteStream } from "node:fs";
import { chmod, lstat, mkdir, rename, rm, stat, symlink } from "node:fs/promises";
import { basename, dirname, join, posix, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FileInfo } from "@sandkit/core";
import { UsageError } from "../../usage-error.js";
import { writeOut } from "../../write-out.js";
import type { Copying } from "./copy-files.js";
import { type Endpoint, placeFor } from "./endpoint.js";

/** Copies a file or a folder out of a sandbox. What it is called there cannot lead anything outside the target. */
export async function copyOut(
  copying: Copying,
  from: string,
  to: Exclude<Endpoint, { kind: "sandbox" }>,
): Promise<void> {
  const { files } = copying.sandbox;
  const info = await files.stat(from);
  if (to.kind === "stream") {
    if (info.type !== "file") throw new UsageError(`"${from}" is no file`, [{ text: "only a file can go to stdout" }]);
    await toStdout(copying, from);
    return;
  }
  const contents = /(?:^|\/)\.$/.test(from);
  const isFolder = await isFolderHere(to.path);
  const name = contents ? "." : posix.basename(info.path);
  refuseForeign(name);
  const target = placeFor({ isFolder, path: resolve(to.path), name }, join);
  if (info.type === "directory") await copyFolder(copying, info.path, target);
  else if (info.type === "file") await copyFile(copying, info, target);
  else throw new UsageError(`"${from}" is neither a file nor a folder`, [{ text: "name one" }]);
}

async function isFolderHere(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function toStdout({ sandbox, signal, onBytes }: Copying, from: string): Promise<void> {
  for await (const piece of await sandbox.files.readStream(from, { signal })) {
    onBytes(piece.length);
    if (!(await writeOut(piece))) return;
  }
}

/** Folders first, then files, and links last, so that nothing is written through one that came from the sandbox. */
async function copyFolder(copying: Copying, source: string, target: string): Promise<void> {
  const { sandbox, signal } = copying;
  const entries = await sandbox.files.list(source, { recursive: true });
  await mkdir(target, { recursive: true });
  copying.onEntry();
  const links: FileInfo[] = [];
  const folders: { readonly path: string; readonly mode: number }[] = [];
  for (const entry of entries) {
    signal.throwIfAborted();
    const path = placeBelow(source, target, entry.path);
    await refuseLinks(target, dirname(path));
    if (entry.type === "directory") {
      await mkdir(path, { recursive: true });
      folders.push({ path, mode: entry.mode });
      copying.onEntry();
    } else if (entry.type === "file") await copyFile(copying, entry, path);
    else if (entry.type === "symlink") links.push(entry);
    else copying.onLeftOut(`${entry.path}: neither a file, a folder nor a link`);
  }
  for (const link of links) await makeLink(copying, source, target, link);
  // Last, and the inner ones first: one that cannot be written to could not be filled.
  for (const { path, mode } of folders.reverse()) await chmod(path, (mode & 0o777) | 0o700);
}

/** Where an entry goes. @throws Error for one that is not below its folder, which no honest sandbox tells of */
function placeBelow(source: string, target: string, path: string): string {
  const relative = posix.relative(source, path);
  const names = relative.split("/");
  if (relative === "" || posix.isAbsolute(relative) || names.includes("..") || relative.includes("\0"))
    throw new Error(`the sandbox names ${JSON.stringify(path)} as part of ${JSON.stringify(source)}`);
  refuseForeign(relative);
  return join(target, ...names);
}

/** What is part of a name in a sandbox leads elsewhere on Windows, where no name can have it. */
function refuseForeign(path: string): void {
  if (sep === "\\" && /[\\:]/.test(path))
    throw new UsageError(`"${path}" cannot be the name of a file here`, [{ text: "rename it in the sandbox" }]);
}

/** Nothing is written through a link that was here before. */
async function refuseLinks(root: string, folder: string): Promise<void> {
  for (let at = folder; at.length > root.length; at = dirname(at)) {
    const found = await lstat(at).catch(() => undefined);
    if (found?.isSymbolicLink())
      throw new UsageError(`"${at}" is a link, and what is in it would go elsewhere`, [
        { text: "copy to another place" },
      ]);
  }
}

/** Whole or not at all: under another name until it is complete. */
async function copyFile({ sandbox, signal, onBytes, onEntry }: Copying, info: FileInfo, path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isDirectory()) throw new UsageError(`"${path}" is a folder here`, [{ text: "name another place" }]);
  const partial = join(dirname(path), `.${basename(path).slice(0, 200)}.${process.pid}.part`);
  try {
    const source = Readable.fromWeb((await sandbox.files.readStream(info.path, { signal })) as never);
    source.on("data", (piece: Uint8Array) => onBytes(piece.length)).pause();
    await pipeline(source, createWriteStream(partial, { flags: "wx", mode: 0o600 }), { signal });
    await chmod(partial, info.mode & 0o777);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw cannotWrite(error, path);
  }
  onEntry();
}

function cannotWrite(error: unknown, path: string): unknown {
  const code = error instanceof Error && "syscall" in error ? error.message : undefined;
  return code === undefined
    ? error
    : new UsageError(`cannot write "${path}": ${code}`, [{ text: "name another place" }]);
}

/** Links that stay in the folder are kept; others would lead who opens them to files of this machine. */
async function makeLink(
  { onEntry, onLeftOut }: Copying,
  source: string,
  target: string,
  link: FileInfo,
): Promise<void> {
  const leadsTo = link.symlinkTarget ?? "";
  const end = posix.resolve(posix.dirname(link.path), leadsTo);
  const steps = leadsTo.split("/").filter((step) => step !== "" && step !== ".");
  const firstName = steps.findIndex((step) => step !== "..");
  // After a name, which may be a link itself, ".." need not lead back.
  const climbs = firstName >= 0 && steps.lastIndexOf("..") > firstName;
  if (posix.isAbsolute(leadsTo) || climbs || (end !== source && !end.startsWith(`${source}/`))) {
    onLeftOut(`${link.path}: a link that leads outside, to ${leadsTo}`);
    return;
  }
  refuseForeign(leadsTo);
  const path = placeBelow(source, target, link.path);
  // By now there are links that came from the sandbox.
  await refuseLinks(target, dirname(path));
  await rm(path, { force: true });
  await symlink(leadsTo, path);
  onEntry();
}
