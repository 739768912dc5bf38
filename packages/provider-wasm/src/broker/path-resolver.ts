import { FileError } from "./file-error.js";
import { asDirectory, type DirectoryInode, type FileSystem, type Inode, isReserved } from "./filesystem.js";

/** One named step of a path. */
interface Step {
  readonly name: string;
  readonly inode: Inode;
}

/** Where a path leads: the directory and name at its end, and the inode there, if any. */
export interface Place {
  readonly parent: DirectoryInode;
  /** Empty for the root, which has no name. */
  readonly name: string;
  readonly inode: Inode | undefined;
  /** The way from the root, with links resolved. Ends with the inode, or with the parent of what is missing. */
  readonly steps: readonly Step[];
}

interface ResolveOptions {
  /** Goes through a link at the end of the path, also through one that dangles. */
  readonly followLast: boolean;
  readonly makeParents?: boolean;
  /** Stops with `EXDEV` where the path, or a link on it, leads to what a worker has of its own. */
  readonly refuseReserved?: boolean;
}

const mostLinks = 40;

/** Walks an absolute path. */
export function resolvePath(files: FileSystem, path: string, options: ResolveOptions): Place {
  // The next name is the last of these: a path that its links make long takes time by its length alone.
  const rest = partsOf(path).reverse();
  let steps: Step[] = [];
  let links = 0;
  while (rest.length > 0) {
    const name = rest.pop() ?? "";
    const parent = directoryAt(files, steps, path);
    if (name === "..") {
      steps.pop();
      continue;
    }
    if (options.refuseReserved && steps.length === 0 && isReserved(name)) throw new FileError("EXDEV", path);
    const last = rest.length === 0;
    let inode = files.lookup(parent, name);
    if (inode?.kind === "symlink" && (!last || options.followLast)) {
      links += 1;
      if (links > mostLinks) throw new FileError("ELOOP", path);
      rest.push(...partsOf(inode.target).reverse());
      if (inode.target.startsWith("/")) steps = [];
      continue;
    }
    if (!inode && last) return { parent, name, inode: undefined, steps };
    if (!inode && options.makeParents) inode = files.createDirectory(parent, name, 0o755);
    if (!inode) throw new FileError("ENOENT", path);
    steps.push({ name, inode });
  }
  const end = steps.at(-1);
  if (!end) return { parent: files.root, name: "", inode: files.root, steps };
  return { parent: directoryAt(files, steps.slice(0, -1), path), ...end, steps };
}

/** The inode at a path. @throws FileError `ENOENT` */
export function inodeAt(files: FileSystem, path: string, followLast = true): Inode {
  const { inode } = resolvePath(files, path, { followLast });
  if (!inode) throw new FileError("ENOENT", path);
  return inode;
}

/** The directory at a path, made with its parents where missing. @throws FileError `EEXIST` when a file is there */
export function ensureDirectory(files: FileSystem, path: string): DirectoryInode {
  const place = resolvePath(files, path, { followLast: true, makeParents: true });
  if (!place.inode) return files.createDirectory(place.parent, place.name, 0o755);
  if (place.inode.kind !== "directory") throw new FileError("EEXIST", path);
  return asDirectory(place.inode);
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

function directoryAt(files: FileSystem, steps: readonly Step[], path: string): DirectoryInode {
  const inode = steps.at(-1)?.inode ?? files.root;
  if (inode.kind !== "directory") throw new FileError("ENOTDIR", path);
  return inode;
}
