import type { IFileSystem } from "just-bash";
import { FileFailure } from "./broker.js";

/** What just-bash's own expansion of patterns brings. */
interface Expander {
  readonly fs: IFileSystem;
  readonly cwd: string;
  readonly globstar: boolean;
  readonly dotglob: boolean;
  readonly hasGlobignore: boolean;
  hasGlobChars(segment: string): boolean;
  matchPattern(name: string, segment: string): boolean;
}

interface Match {
  /** As it is shown. */
  readonly shown: string;
  readonly path: string;
}

/**
 * The names that a pattern stands for, in order. Called by just-bash, as it is patched: its own forgets the slash at
 * the end of a pattern, goes through no link, and leaves directories out of `**`.
 */
export async function expandGlob(expander: Expander, pattern: string): Promise<string[]> {
  const isAbsolute = pattern.startsWith("/");
  const wantsDirectory = pattern.endsWith("/");
  const segments = pattern.split("/").filter((segment) => segment !== "");
  const isStar = (segment: string) => segment === "**" && expander.globstar;
  let matches: Match[] = [{ shown: isAbsolute ? "/" : "", path: isAbsolute ? "/" : expander.cwd }];
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    const found: Match[] = [];
    for (const match of matches) {
      if (isStar(segment)) found.push(...(await below(expander, match, isLast && !wantsDirectory)));
      else if (expander.hasGlobChars(segment)) found.push(...(await within(expander, match, segment)));
      else found.push(join(match, segment, expander.fs));
    }
    const kept: Match[] = [];
    for (const match of found) if (await isThere(expander.fs, match.path, !isLast || wantsDirectory)) kept.push(match);
    // Two stars in a row find the same twice.
    matches = Array.from(new Map(kept.map((match) => [match.shown, match])).values());
  }
  return matches
    .filter(({ shown }) => shown !== "")
    .map(({ shown }) => (wantsDirectory && shown !== "/" ? `${shown}/` : shown))
    .sort();
}

async function within(expander: Expander, match: Match, segment: string): Promise<Match[]> {
  const showsHidden = segment.startsWith(".") || expander.dotglob || expander.hasGlobignore;
  const names = (await list(expander.fs, match.path)).map(({ name }) => name);
  return names
    .filter((name) => (showsHidden || !name.startsWith(".")) && expander.matchPattern(name, segment))
    .map((name) => join(match, name, expander.fs));
}

/** For `**`: the directory itself, and all below it; of links nothing but themselves. */
async function below(expander: Expander, match: Match, withFiles: boolean): Promise<Match[]> {
  const found = [match];
  for (const { name, isDirectory } of await list(expander.fs, match.path)) {
    if (name.startsWith(".") && !expander.dotglob) continue;
    const inner = join(match, name, expander.fs);
    if (isDirectory) found.push(...(await below(expander, inner, withFiles)));
    else if (withFiles) found.push(inner);
  }
  return found;
}

function join({ shown, path }: Match, name: string, fs: IFileSystem): Match {
  return { shown: shown === "" || shown === "/" ? shown + name : `${shown}/${name}`, path: fs.resolvePath(path, name) };
}

async function list(fs: IFileSystem, path: string) {
  try {
    return (await fs.readdirWithFileTypes?.(path)) ?? [];
  } catch (error) {
    if (error instanceof FileFailure) return [];
    throw error;
  }
}

/** Links count where they lead to, when it is a directory that is wanted. */
async function isThere(fs: IFileSystem, path: string, asDirectory: boolean): Promise<boolean> {
  try {
    return asDirectory ? (await fs.stat(path)).isDirectory : (await fs.lstat(path)) !== undefined;
  } catch (error) {
    if (error instanceof FileFailure) return false;
    throw error;
  }
}
