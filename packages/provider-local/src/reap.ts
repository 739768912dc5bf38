import { readdir, readFile, stat } from "node:fs/promises";
import type { ReapOptions, SandboxRef } from "@sandkit/core";
import { hasErrno, onPath } from "./errors.js";
import { Folder, sandboxesFolder } from "./folder.js";
import { isAlive, type Owner } from "./owner.js";

/** Removes the folders of sandboxes whose owner is dead. Their processes died with it: a supervisor sees to that. */
export async function reapFolders({ olderThanMs, dryRun }: ReapOptions): Promise<SandboxRef[]> {
  const reaped: SandboxRef[] = [];
  for (const id of await sandboxIds()) {
    const folder = new Folder(id);
    const found = await readOwner(folder.record);
    if (!found || Date.now() - found.since < olderThanMs || (await isAlive(found.owner))) continue;
    if (!dryRun) await folder.remove();
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
async function readOwner(path: string): Promise<{ readonly owner: Owner; readonly since: number } | undefined> {
  try {
    return { owner: JSON.parse(await readFile(path, "utf8")), since: (await stat(path)).mtimeMs };
  } catch (error) {
    if (hasErrno(error, "ENOENT") || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
