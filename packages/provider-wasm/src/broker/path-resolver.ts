import { FileError } from "./file-error.js";
import { asDirectory, type DirectoryInode, type FileSystem, type Inode } from "./filesystem.js";

/** Where a path leads: the directory and name at its end, and the inode there, if any. */
export interface Place {
  readonly parent: DirectoryInode;
  readonly name: string;
  readonly inode: Inode | undefined;
}

const mostLinks = 40;

/** Walks an absolute path. `followLast` goes through a link at its end, also one that dangles. */
export function resolvePath(
  files: FileSystem,
  path: string,
  options: { readonly followLast: boolean; readonly makeParents?: boolean },
): Place {
  let rest = path.split("/").filter((part) => part !== "" && part !== ".");
  let parent = files.root;
  let place: Place = { parent, name: "", inode: parent };
  for (let links = 0; rest.length > 0; ) {
    const [name = "", ...after] = rest;
    rest = after;
    if (name === "..") {
      parent = parent.parent;
      place = { parent, name: "", inode: parent };
      continue;
    }
    const inode = files.lookup(parent, name) ?? makeParent(files, parent, name, rest.length > 0 && options.makeParents);
    place = { parent, name, inode };
    if (inode?.kind === "symlink" && (rest.length > 0 || options.followLast)) {
      links += 1;
      if (links > mostLinks) throw new FileError("ELOOP", path);
      rest = [...inode.target.split("/").filter((part) => part !== "" && part !== "."), ...rest];
      if (inode.target.startsWith("/")) parent = files.root;
      place = { parent, name: "", inode: parent };
      continue;
    }
    if (rest.length > 0) {
      if (!inode) throw new FileError("ENOENT", path);
      if (inode.kind !== "directory") throw new FileError("ENOTDIR", path);
    }
    if (inode?.kind === "directory") parent = inode;
  }
  return place;
}

function makeParent(
  files: FileSystem,
  parent: DirectoryInode,
  name: string,
  make: boolean | undefined,
): Inode | undefined {
  return make ? files.createDirectory(parent, name, 0o755) : undefined;
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
