import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import type { FileInfo, ListFilesOptions } from "@sandkit/core";
import { hasErrno } from "./errors.js";
import { fileInfo } from "./file-info.js";

/** The records of what is in a directory, in the order of the paths' code units. */
export async function listDirectory(path: string, options: ListFilesOptions): Promise<FileInfo[]> {
  const depth = options.recursive ? (options.maxDepth ?? Infinity) : 1;
  const limit = options.limit ?? Infinity;
  const entries = await readdir(path, { withFileTypes: true });
  const paths: string[] = [];
  if (limit > 0) {
    for await (const found of walk(path, entries, depth)) {
      paths.push(found);
      if (paths.length >= limit) break;
    }
  }
  const records = await Promise.all(paths.map((found) => unlessGone(async () => fileInfo(found, await lstat(found)))));
  return records.filter((record) => record !== undefined);
}

/**
 * Yields paths in order. The content of a directory comes where `name/` sorts, which is not right after `name`:
 * `a`, `a.txt`, `a/b`.
 */
async function* walk(folder: string, entries: readonly Dirent[], depth: number): AsyncGenerator<string> {
  const prefix = folder === "/" ? "/" : `${folder}/`;
  const steps = entries.flatMap((entry) =>
    depth > 1 && entry.isDirectory() ? [entry.name, `${entry.name}/`] : [entry.name],
  );
  steps.sort((a, b) => (a < b ? -1 : 1));
  for (const step of steps) {
    if (!step.endsWith("/")) {
      yield prefix + step;
      continue;
    }
    const inner = prefix + step.slice(0, -1);
    const content = await unlessGone(() => readdir(inner, { withFileTypes: true }));
    if (content) yield* walk(inner, content, depth - 1);
  }
}

/** Undefined for what was removed between being seen and being looked at. */
async function unlessGone<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (hasErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}
