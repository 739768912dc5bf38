import type { FileSystem, Lookup, Pyodide } from "./emscripten.js";
import { errno } from "./errno.js";

const [createFlag, exclusiveFlag] = [0o100, 0o200];
const umask = 0o022;

/** Emscripten would remember names after a rename; ours are asked for every time. */
export function keepOutOfNameCache(FS: FileSystem): void {
  const add = FS.hashAddNode;
  FS.hashAddNode = (node) => {
    if (node.ino === undefined) add.call(FS, node);
  };
}

/** Looks paths up with one call to the broker instead of one for each name. */
export function walkAtOnce(FS: FileSystem, walk: (path: string, follow: boolean) => Lookup, python: Pyodide): void {
  const { lookupPath } = FS;
  FS.lookupPath = (path, options = {}) => {
    const absolute = path.startsWith("/") ? path : `${FS.cwd()}/${path}`;
    const parts = absolute.split("/").filter((part) => part !== "");
    if (options.parent) parts.pop();
    const plain = path !== "" && parts.length > 0 && !parts.includes(".") && !parts.includes("..");
    if (!plain || /^(?:dev|lib|proc)$/.test(parts[0] ?? "")) return lookupPath.call(FS, path, options);
    try {
      const found = walk(`/${parts.join("/")}`, !!options.parent || !!options.follow);
      if (!found.node && !options.noent_okay) throw new FS.ErrnoError(errno(python, "ENOENT"));
      return found;
    } catch (error) {
      // A link leads to what this worker has of its own.
      if ((error as { errno?: number }).errno !== errno(python, "EXDEV")) throw error;
      return lookupPath.call(FS, path, options);
    }
  };
}

/** The umask that Emscripten lacks, and a second try when another worker made the file between lookup and creation. */
export function refineOpen(FS: FileSystem, python: Pyodide): void {
  const { open, mkdir } = FS;
  FS.open = (path, flags, mode = 0o666) => {
    const masked = mode & ~umask;
    try {
      return open.call(FS, path, flags, masked);
    } catch (error) {
      const raced = (error as { errno?: number }).errno === errno(python, "EEXIST");
      const creates = typeof flags === "number" && flags & createFlag && !(flags & exclusiveFlag);
      if (raced && creates) return open.call(FS, path, flags, masked);
      throw error;
    }
  };
  FS.mkdir = (path, mode = 0o777) => mkdir.call(FS, path, mode & ~umask);
}
