import { readdir, readFile, stat } from "node:fs/promises";
import type { ReapOptions, SandboxRef } from "@sandkit/core";
import { ownerState, Sweep } from "@sandkit/core/kit";
import { hasErrno, onPath, providerName } from "./errors.js";
import { Folder, sandboxesFolder } from "./folder.js";

/** Removes the folders of sandboxes whose owner is dead. Their processes died with it: a supervisor sees to that. */
export async function reapFolders(options: ReapOptions): Promise<SandboxRef[]> {
  const sweep = new Sweep(providerName, options);
  for (const id of await sandboxIds()) {
    const folder = new Folder(id);
    const found = await readOwner(folder.record);
    if (!found || Date.now() - found.since < options.olderThanMs) continue;
    if ((await ownerState(found.owner)) === "dead") await sweep.remove(id, () => folder.remove());
  }
  return sweep.end();
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
async function readOwner(path: string): Promise<{ readonly owner: string; readonly since: number } | undefined> {
  try {
    return { owner: await readFile(path, "utf8"), since: (await stat(path)).mtimeMs };
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}
