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

/** Copies an entry with all in it to a new name; what is copied into itself is not copied again. */
export function copyTree([, ino, mode]: Entry, toParent: number, toName: string, path: string): void {
  const waiting = [{ ino, mode, toParent, toName }];
  let first: number | undefined;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const copy = copyOne(next, path);
    first ??= copy;
    if (!isDirectory(next.mode)) continue;
    for (const [name, child, childMode] of entries(next.ino, path)) {
      if (child !== first) waiting.push({ ino: child, mode: childMode, toParent: copy, toName: name });
    }
  }
}

interface Copy {
  readonly ino: number;
  readonly mode: number;
  readonly toParent: number;
  readonly toName: string;
}

function copyOne({ ino, mode, toParent, toName }: Copy, path: string): number {
  if (isLink(mode)) {
    const target = askFiles<string>("readlink", path, [ino]);
    return askFiles<InodeFacts>("symlink", path, [toParent, toName, target]).ino;
  }
  const there = entries(toParent, path).find(([name]) => name === toName);
  if (there && isDirectory(there[2]) !== isDirectory(mode)) throw new FileFailure("EEXIST", "copy", path);
  const copy = there?.[1] ?? askFiles<InodeFacts>("mknod", path, [toParent, toName, mode]).ino;
  if (isDirectory(mode)) return copy;
  const bytes = readAll(askFiles<InodeFacts>("getattr", path, [ino]), path);
  opened(copy, path, (handle) => {
    askFiles("fsetattr", path, [handle, { size: 0 }]);
    for (let done = 0; done < bytes.length; done += chunkBytes) {
      askFiles("write", path, [handle, done], bytes.subarray(done, done + chunkBytes), true);
    }
  });
  return copy;
}

function opened<Result>(ino: number, path: string, use: (handle: number) => Result): Result {
  const handle = askFiles<number>("open", path, [ino]);
  try {
    return use(handle);
  } finally {
    askFiles("close", path, [handle]);
  }
}
