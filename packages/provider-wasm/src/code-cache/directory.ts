import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * The directory for compiled code, made where it is missing. Undefined where none can be trusted: it must be this
 * user's, and nobody else's to read or write. Windows has no such modes, and so no cache.
 */
export function codeCacheDirectory(chosen: string | undefined): string | undefined {
  if (!process.getuid) return undefined;
  const path = chosen ?? join(userCaches(), "sandkit", "wasm");
  // Node takes these in its permission flags for more than a name.
  if (!isAbsolute(path) || /[,*]/.test(path)) return undefined;
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const info = lstatSync(path);
    const own = info.isDirectory() && info.uid === process.getuid() && (info.mode & 0o077) === 0;
    return own ? realpathSync(path) : undefined;
  } catch {
    // No home, or none that can be written: everything is compiled each time.
    return undefined;
  }
}

function userCaches(): string {
  const { XDG_CACHE_HOME } = process.env;
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME;
  return join(homedir(), process.platform === "darwin" ? "Library/Caches" : ".cache");
}
