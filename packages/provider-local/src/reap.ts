import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ReapOptions, SandboxRef } from "@sandkit/core";
import { hasErrno, onPath } from "./errors.js";
import { Folder, type FolderRecord, sandboxesFolder } from "./folder.js";
import { isAlive } from "./owner.js";

/** Removes the folders of sandboxes whose owner is dead. Their processes died with it: a supervisor sees to that. */
export async function reapFolders({ olderThanMs, dryRun }: ReapOptions): Promise<SandboxRef[]> {
  const reaped: SandboxRef[] = [];
  for (const id of await sandboxIds()) {
    const root = join(sandboxesFolder, id);
    const record = await readRecord(root);
    if (!record || Date.now() - record.madeAt < olderThanMs || (await isAlive(record.owner))) continue;
    if (!dryRun) await Folder.of(root, record).remove();
    reaped.push({ provider: "local", id });
  }
  return reaped;
}

async function sandboxIds(): Promise<string[]> {
  try {
    return await onPath("reap", sandboxesFolder, () => readdir(sandboxesFolder));
  } catch (error) {
    if (error instanceof Error && hasErrno(error.cause, "ENOENT")) return [];
    throw error;
  }
}

/** Undefined for a sandbox that is just being made, or being removed by its owner. */
async function readRecord(root: string): Promise<(FolderRecord & { readonly madeAt: number }) | undefined> {
  const path = join(root, "sandbox.json");
  try {
    const record: FolderRecord = JSON.parse(await readFile(path, "utf8"));
    return { ...record, madeAt: (await stat(path)).mtimeMs };
  } catch (error) {
    if (hasErrno(error, "ENOENT") || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
