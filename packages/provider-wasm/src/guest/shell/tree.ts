import { askFiles, chunkBytes, FileFailure } from "./broker.js";

/** What the broker tells of an inode. */
export interface InodeFacts {
  readonly ino: number;
  readonly mode: number;
  readonly size: number;
  readonly mtime: number;
}

interface Walk {
  readonly chain: readonly (readonly [name: string, ino: number, mode: number])[];
  readonly info?: InodeFacts;
  readonly missing?: string;
}

/** Where a path leads. */
export interface Place {
  readonly parent: number;
  readonly name: string;
  readonly info: InodeFacts | undefined;
  /** With all links resolved. */
  readonly path: string;
}

const rootInode = 1;
const typeMask = 0o170000;
/** More would have to be in memory as a string. */
const largestRead = 64 * 1024 * 1024;

export const isFile = (mode: number): boolean => (mode & typeMask) === 0o100000;
export const isDirectory = (mode: number): boolean => (mode & typeMask) === 0o040000;
export const isLink = (mode: number): boolean => (mode & typeMask) === 0o120000;

/** Follows a path to its end, which may be missing. @throws FileFailure where the way to it is */
export function walk(path: string, followLast = true): Place {
  const { chain, info, missing } = askFiles<Walk>("walk", path, [path, followLast]);
  const names = chain.map(([name]) => name);
  const inode = (back: number) => chain.at(-back)?.[1] ?? rootInode;
  if (missing !== undefined) {
    return { parent: inode(1), name: missing, info: undefined, path: `/${[...names, missing].join("/")}` };
  }
  return { parent: inode(2), name: names.at(-1) ?? "", info, path: `/${names.join("/")}` };
}

/** The inode at a path. @throws FileFailure `ENOENT` */
export function find(path: string, operation: string, followLast = true): Place & { readonly info: InodeFacts } {
  const place = walk(path, followLast);
  if (!place.info) throw new FileFailure("ENOENT", operation, path);
  return { ...place, info: place.info };
}

export type Entry = readonly [name: string, ino: number, mode: number];

export function entries(ino: number, path: string): readonly Entry[] {
  return askFiles("readdir", path, [ino]);
}

/** Whole content of a file. @throws FileFailure `EISDIR`; `EFBIG` above 64 MiB */
export function readAll({ ino, mode, size }: InodeFacts, path: string): Uint8Array {
  if (!isFile(mode)) throw new FileFailure("EISDIR", "read", path);
  if (size > largestRead) throw new FileFailure("EFBIG", "read", path);
  const bytes = new Uint8Array(size);
  return opened(ino, path, (handle) => {
    let done = 0;
    while (done < size) {
      const target = bytes.subarray(done, done + chunkBytes);
      const count = askFiles<number>("read", path, [handle, done, target.length], target);
      if (count === 0) break;
      done += count;
    }
    return bytes.subarray(0, done);
  });
}

/** Writes bytes in place of the content, or after it. Makes the file, with these permissions. */
export function writeAll(path: string, bytes: Uint8Array, append: boolean, mode: number): void {
  const { parent, name, info } = walk(path);
  if (info && !isFile(info.mode)) throw new FileFailure("EISDIR", "open", path);
  const { ino } = info ?? askFiles<InodeFacts>("mknod", path, [parent, name, 0o100000 | mode]);
  opened(ino, path, (handle) => {
    if (info && !append) askFiles("fsetattr", path, [handle, { size: 0 }]);
    for (let done = 0; done < bytes.length; done += chunkBytes) {
      // The broker finds the end itself, so that appends of several programs never overwrite one another.
      askFiles("write", path, [handle, append ? -1 : done], bytes.subarray(done, done + chunkBytes), true);
    }
  });
}

/** Removes what is at an entry with all in it, however deep. */
export function removeTree(parent: number, [name, ino, mode]: Entry, path: string): void {
  if (!isDirectory(mode)) return void askFiles("unlink", path, [parent, name]);
  const open = [{ parent, name, ino, waiting: [...entries(ino, path)] }];
  for (let top = open.at(-1); top; top = open.at(-1)) {
    const next = top.waiting.pop();
    if (!next) {
      open.pop();
      askFiles("rmdir", path, [top.parent, top.name]);
    } else if (isDirectory(next[2])) {
      open.push({ parent: top.ino, name: next[0], ino: next[1], waiting: [...entries(next[1], path)] });
    } else {
      askFiles("unlink", path, [top.ino, next[0]]);
    }
  }
}

/** Copies an inode with all in it to a path; what is copied into itself is not copied again. */
export function copyTree({ ino, mode }: Pick<InodeFacts, "ino" | "mode">, path: string): void {
  const waiting = [{ ino, mode, path }];
  let first: number | undefined;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const directory = copyOne(next);
    if (directory === undefined) continue;
    first ??= directory;
    for (const [name, child, childMode] of entries(next.ino, next.path)) {
      if (child !== first) waiting.push({ ino: child, mode: childMode, path: `${next.path}/${name}` });
    }
  }
}

/** Copies one inode; the inode of the copy where it is a directory. @throws FileFailure where something else is there */
function copyOne({
  ino,
  mode,
  path,
}: Pick<InodeFacts, "ino" | "mode"> & { readonly path: string }): number | undefined {
  const { parent, name, info } = walk(path, false);
  if (info && isDirectory(info.mode) !== isDirectory(mode)) throw new FileFailure("EEXIST", "copy", path);
  if (isDirectory(mode)) return info?.ino ?? askFiles<InodeFacts>("mknod", path, [parent, name, mode]).ino;
  if (isLink(mode)) {
    if (info) askFiles("unlink", path, [parent, name]);
    askFiles("symlink", path, [parent, name, askFiles<string>("readlink", path, [ino])]);
  } else {
    writeAll(path, readAll(askFiles<InodeFacts>("getattr", path, [ino]), path), false, mode & 0o7777);
  }
  return undefined;
}

function opened<Result>(ino: number, path: string, use: (handle: number) => Result): Result {
  const handle = askFiles<number>("open", path, [ino]);
  try {
    return use(handle);
  } finally {
    askFiles("close", path, [handle]);
  }
}
