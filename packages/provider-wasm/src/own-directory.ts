import { existsSync, lstatSync, mkdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

/** Where something is kept that others must not write, or why it is kept nowhere. */
export type OwnDirectory = { readonly path: string } | { readonly refused: string };

const [writableByOthers, openToOthers, sticky] = [0o022, 0o077, 0o1000];

/** The directory for compiled code. @param chosen Absolute path; default: in the user's caches. */
export function codeCacheDirectory(chosen = join(userCaches(), "sandkit", "wasm")): OwnDirectory {
  return ownDirectory(chosen);
}

/** The directory for packages that were fetched. @param chosen Absolute path; default: in the user's caches. */
export function packageCacheDirectory(chosen = join(userCaches(), "sandkit", "packages")): OwnDirectory {
  return ownDirectory(chosen);
}

/**
 * A directory, made where it is missing. It must be this user's, nobody else's to read or write, and at no place where
 * somebody else could put another one in its stead.
 */
function ownDirectory(chosen: string): OwnDirectory {
  const refused = (reason: string) => ({ refused: `${chosen} ${reason}` });
  // Users without a home have one in name, which is not ours to make.
  if (chosen.startsWith(homedir()) && !existsSync(homedir())) return refused("has no home directory to lie in");
  const user = process.getuid?.();
  if (user === undefined) return refused("cannot be told to be closed to other users on this system");
  if (!isAbsolute(chosen)) return refused("is no absolute path");
  if (/[,*]/.test(chosen))
    return refused("has a comma or an asterisk in its name, which Node's permission flags cannot take");
  try {
    makeDirectories(chosen);
    const info = lstatSync(chosen);
    if (!info.isDirectory()) return refused("is no directory of its own");
    if (info.uid !== user) return refused("belongs to another user");
    if ((info.mode & openToOthers) !== 0) return refused("is open to other users: chmod 700");
    const path = realpathSync(chosen);
    const loose = parents(path).find((parent) => isLoose(statSync(parent), user));
    return loose === undefined ? { path } : refused(`can be replaced by other users, who may write to ${loose}`);
  } catch (error) {
    return refused(`cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** One by one: all at once, Node 20 goes on for ever where none can be made, as in `/proc`. */
function makeDirectories(path: string): void {
  if (existsSync(path)) return;
  makeDirectories(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(path)) throw error;
  }
}

function parents(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...parents(parent)];
}

/** Whether others than this user and root may rename what lies in a directory. */
function isLoose({ uid, mode }: Stats, user: number): boolean {
  return (uid !== user && uid !== 0) || ((mode & writableByOthers) !== 0 && (mode & sticky) === 0);
}

function userCaches(): string {
  const { XDG_CACHE_HOME } = process.env;
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME;
  return join(homedir(), process.platform === "darwin" ? "Library/Caches" : ".cache");
}
