import { createReadStream } from "node:fs";
import { lstat, readdir, readlink, stat } from "node:fs/promises";
import { basename, join, posix, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { type Sandbox, SandboxError } from "@sandkit/core";
import { UsageError } from "../../usage-error.js";
import type { Copying } from "./copy-files.js";
import { type Endpoint, placeFor } from "./endpoint.js";

/** Copies a file, a folder or stdin into a sandbox. @throws UsageError when there is nothing of that name here */
export async function copyIn(
  copying: Copying,
  from: Exclude<Endpoint, { kind: "sandbox" }>,
  to: string,
): Promise<void> {
  const { sandbox } = copying;
  const isFolder = await isFolderInside(sandbox, to);
  if (from.kind === "stream") {
    if (isFolder)
      throw new UsageError(`"${to}" is a folder of the sandbox`, [{ text: "name the file that stdin goes to" }]);
    await writeFile(copying, process.stdin, to, undefined);
    return;
  }
  const source = resolve(from.path);
  const found = await stat(source).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot read "${from.path}": ${error.message}`, [
      { text: "name a file or folder that is there" },
    ]);
  });
  const contents = /(?:^|[\\/])\.$/.test(from.path);
  const name = contents ? "." : basename(source);
  const folder = isFolder || (to.endsWith("/") && !found.isDirectory());
  const target = placeFor({ isFolder: folder, path: to, name }, posix.join);
  if (found.isDirectory()) await copyFolder(copying, source, target);
  else if (found.isFile()) await writeFile(copying, createReadStream(source), target, found.mode);
  else throw new UsageError(`"${from.path}" is neither a file nor a folder`, [{ text: "copy what it gives by -" }]);
}

async function isFolderInside({ files }: Sandbox, path: string): Promise<boolean> {
  try {
    return (await files.stat(path)).type === "directory";
  } catch (error) {
    if (error instanceof SandboxError && error.code === "FILE_NOT_FOUND") return false;
    throw error;
  }
}

async function copyFolder(copying: Copying, source: string, target: string): Promise<void> {
  const { sandbox, signal } = copying;
  await sandbox.files.mkdir(target);
  copying.onEntry();
  for (const name of (await readdir(source)).sort()) {
    signal.throwIfAborted();
    const from = join(source, name);
    const to = posix.join(target, name);
    const found = await lstat(from);
    if (found.isDirectory()) await copyFolder(copying, from, to);
    else if (found.isFile()) await writeFile(copying, createReadStream(from), to, found.mode);
    else if (found.isSymbolicLink()) await makeLink(copying, (await readlink(from)).replaceAll(sep, "/"), to);
    else copying.onLeftOut(`${from}: neither a file, a folder nor a link`);
  }
}

async function writeFile(copying: Copying, source: Readable, path: string, mode: number | undefined): Promise<void> {
  const { sandbox, signal, onBytes, onEntry } = copying;
  source.on("data", (piece: Buffer) => onBytes(piece.length)).pause();
  const data = Readable.toWeb(source) as ReadableStream<Uint8Array>;
  await sandbox.files.write(path, data, { signal, ...(mode !== undefined && { permissions: mode & 0o777 }) });
  onEntry();
}

/** The core has no call for links: the sandbox makes it. */
async function makeLink({ sandbox, onEntry, onLeftOut }: Copying, target: string, path: string): Promise<void> {
  const { ok, stderr } = await sandbox.exec(["ln", "-sfn", "--", target, absolute(sandbox, path)]);
  if (ok) onEntry();
  else onLeftOut(`${path}: the link cannot be made: ${stderr.text.trim()}`);
}

function absolute({ workdir }: Sandbox, path: string): string {
  return posix.resolve(workdir, path);
}
