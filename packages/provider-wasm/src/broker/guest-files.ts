import { FileError } from "./file-error.js";
import { type FileInode, type FileSystem, type Inode, sizeOf } from "./filesystem.js";
import { resolvePath } from "./path-resolver.js";

const typeBits = { file: 0o100000, directory: 0o040000, symlink: 0o120000 } as const;
const mostOpenFiles = 4096;
/** Operations that leave all files as they are. */
const reading: ReadonlySet<string> = new Set(
  "lookup walk getattr fstat readlink readdir open close read statfs".split(" "),
);

/** Result of an operation, and how many bytes of the reply area it filled. */
interface Answer {
  readonly result: unknown;
  readonly length?: number;
}

type Operation = (args: readonly unknown[], data: Uint8Array, replyArea: Uint8Array) => Answer | undefined;

/**
 * The file operations of one worker, by the names that the guest's file system uses. Arguments come from the guest:
 * each is checked here before it is used.
 */
export class GuestFiles {
  readonly #files: FileSystem;
  readonly #open = new Map<number, Inode>();
  #nextHandle = 1;

  constructor(files: FileSystem) {
    this.#files = files;
  }

  /** Runs one operation. @throws FileError */
  run(name: string, args: unknown, data: Uint8Array, replyArea: Uint8Array): Answer {
    const operation = Object.hasOwn(this.#operations, name) ? this.#operations[name] : undefined;
    if (!operation || !Array.isArray(args)) throw new FileError("EINVAL", name);
    try {
      return operation(args, data, replyArea) ?? { result: null };
    } finally {
      // One that fails may have done a part.
      if (!reading.has(name)) this.#files.changed();
    }
  }

  /** Closes what the worker left open. */
  closeAll(): void {
    for (const inode of this.#open.values()) this.#files.release(inode);
    this.#open.clear();
  }

  readonly #operations: Readonly<Record<string, Operation>> = {
    lookup: ([parent, name]) => {
      const inode = this.#files.lookup(this.#files.inode(parent), text(name));
      if (!inode) throw new FileError("ENOENT", text(name));
      return { result: describe(inode) };
    },
    walk: ([path, follow]) => {
      const { name, inode, steps } = resolvePath(this.#files, text(path), {
        followLast: follow === true,
        refuseReserved: true,
      });
      const chain = steps.map((step) => [step.name, step.inode.ino, modeOf(step.inode)]);
      return { result: inode ? { chain, info: describe(inode) } : { chain, missing: name } };
    },
    getattr: ([ino]) => ({ result: describe(this.#files.inode(ino)) }),
    setattr: ([ino, changes]) => ({ result: this.#change(this.#files.inode(ino), changes) }),
    fstat: ([handle]) => ({ result: describe(this.#inodeOf(handle)) }),
    fsetattr: ([handle, changes]) => ({ result: this.#change(this.#inodeOf(handle), changes) }),
    mknod: ([parent, name, mode]) => {
      const bits = natural(mode);
      const directory = (bits & 0o170000) === typeBits.directory;
      const make = directory ? "createDirectory" : "createFile";
      return { result: describe(this.#files[make](this.#files.inode(parent), text(name), bits)) };
    },
    symlink: ([parent, name, target]) => ({
      result: describe(this.#files.createLink(this.#files.inode(parent), text(name), text(target))),
    }),
    readlink: ([ino]) => {
      const inode = this.#files.inode(ino);
      if (inode.kind !== "symlink") throw new FileError("EINVAL", "no link");
      return { result: inode.target };
    },
    rename: ([parent, name, toParent, toName]) => {
      this.#files.rename(this.#files.inode(parent), text(name), this.#files.inode(toParent), text(toName));
      return undefined;
    },
    unlink: ([parent, name]) => {
      this.#files.unlink(this.#files.inode(parent), text(name));
      return undefined;
    },
    rmdir: ([parent, name]) => {
      this.#files.removeDirectory(this.#files.inode(parent), text(name));
      return undefined;
    },
    readdir: ([ino]) => {
      const inode = this.#files.inode(ino);
      if (inode.kind !== "directory") throw new FileError("ENOTDIR", "no directory");
      return { result: [...inode.entries].map(([name, child]) => [name, child.ino, modeOf(child)]) };
    },
    open: ([ino]) => {
      if (this.#open.size >= mostOpenFiles) throw new FileError("EINVAL", "too many open files");
      const handle = this.#nextHandle++;
      this.#open.set(handle, this.#files.hold(this.#files.inode(ino)));
      return { result: handle };
    },
    close: ([handle]) => {
      const inode = this.#inodeOf(handle);
      this.#open.delete(Number(handle));
      this.#files.release(inode);
      return undefined;
    },
    read: ([handle, position, length], _data, replyArea) => {
      const target = replyArea.subarray(0, Math.min(natural(length), replyArea.length));
      const count = this.#fileOf(handle).content.read(natural(position), target);
      return { result: count, length: count };
    },
    write: ([handle, position], data) => {
      const file = this.#fileOf(handle);
      this.#files.write(file, position === -1 ? file.content.size : natural(position), data);
      return { result: data.length };
    },
    statfs: () => {
      const { used, limit } = this.#files.quota;
      const free = Math.max(0, Math.floor((limit - used) / 4096));
      return { result: { bsize: 4096, frsize: 4096, blocks: Math.floor(limit / 4096), bfree: free, bavail: free } };
    },
  };

  #inodeOf(handle: unknown): Inode {
    const inode = this.#open.get(Number(handle));
    if (!inode) throw new FileError("EBADF", "no open file");
    return inode;
  }

  #fileOf(handle: unknown): FileInode {
    const inode = this.#inodeOf(handle);
    if (inode.kind !== "file") throw new FileError("EISDIR", "a directory");
    return inode;
  }

  #change(inode: Inode, changes: unknown): ReturnType<typeof describe> {
    if (typeof changes !== "object" || changes === null) throw new FileError("EINVAL", "no changes");
    const { mode, size, atime, mtime } = changes as Record<string, unknown>;
    if (size !== undefined) {
      if (inode.kind !== "file") throw new FileError("EISDIR", "a directory");
      this.#files.truncate(inode, natural(size));
    }
    if (mode !== undefined) inode.mode = natural(mode) & 0o7777;
    if (atime !== undefined) inode.atime = time(atime);
    if (mtime !== undefined) inode.mtime = time(mtime);
    if (size === undefined) inode.ctime = Date.now();
    return describe(inode);
  }
}

function modeOf(inode: Inode): number {
  return typeBits[inode.kind] | inode.mode;
}

function describe(inode: Inode) {
  return {
    ino: inode.ino,
    mode: modeOf(inode),
    size: sizeOf(inode),
    links: inode.linked ? 1 : 0,
    atime: inode.atime,
    mtime: inode.mtime,
    ctime: inode.ctime,
  };
}

function text(value: unknown): string {
  if (typeof value !== "string") throw new FileError("EINVAL", "a name");
  if (value.length > 4096) throw new FileError("ENAMETOOLONG", "a path");
  return value;
}

function natural(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new FileError("EINVAL", "a number");
  return value as number;
}

/** Whole milliseconds: what every reader of the time can hold exactly. */
function time(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new FileError("EINVAL", "a time");
  return Math.floor(value);
}
