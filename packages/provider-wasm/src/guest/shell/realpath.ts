import type { IFileSystem } from "just-bash";
import { FileFailure } from "./broker.js";
import type { Run } from "./nested.js";
import { readOptions } from "./read-options.js";

const names = {
  "canonicalize-existing": "e",
  "canonicalize-missing": "m",
  quiet: "q",
  strip: "s",
  "no-symlinks": "s",
  zero: "z",
  "relative-to": "R",
  "relative-base": "B",
};

/** `realpath`, with the options of GNU's; the last part of a path may be missing. */
export const realpath: Run = async (args, { fs, cwd }) => {
  const { options, operands } = readOptions(args, { letters: "emqszR:B:", names });
  if (operands.length === 0) throw new Error("missing operand");
  const resolve = async (path: string) => {
    const full = fs.resolvePath(cwd, path);
    if (options.has("s")) return full;
    return resolveLinks(fs, full, options.has("m") ? "any" : options.has("e") ? "none" : "last");
  };
  const base = options.has("B") ? await resolve(options.get("B") ?? "") : undefined;
  const from = options.has("R") ? await resolve(options.get("R") ?? "") : base;
  let stdout = "";
  let stderr = "";
  for (const path of operands) {
    try {
      const found = await resolve(path);
      const isWithin = base === undefined || [found, from ?? ""].every((place) => `${place}/`.startsWith(`${base}/`));
      stdout += (from !== undefined && isWithin ? relative(from, found) : found) + (options.has("z") ? "\0" : "\n");
    } catch (error) {
      if (!(error instanceof FileFailure)) throw error;
      stderr += `realpath: ${path}: ${error.reason}\n`;
    }
  }
  return { stdout, stderr: options.has("q") ? "" : stderr, exitCode: stderr === "" ? 0 : 1 };
};

/** @param missing Which parts of the path need not exist */
async function resolveLinks(fs: IFileSystem, path: string, missing: "any" | "last" | "none"): Promise<string> {
  try {
    return await fs.realpath(path);
  } catch (error) {
    if (!(error instanceof FileFailure) || error.code !== "ENOENT" || missing === "none" || path === "/") throw error;
    const slash = path.lastIndexOf("/");
    const parent = await resolveLinks(fs, path.slice(0, slash) || "/", missing === "any" ? "any" : "none");
    return `${parent === "/" ? "" : parent}/${path.slice(slash + 1)}`;
  }
}

function relative(from: string, to: string): string {
  const [start, end] = [from, to].map((path) => path.split("/").filter(Boolean)) as [string[], string[]];
  let common = 0;
  while (common < start.length && start[common] === end[common]) common += 1;
  return [...start.slice(common).map(() => ".."), ...end.slice(common)].join("/") || ".";
}
