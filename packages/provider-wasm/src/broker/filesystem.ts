import { FileContent, Quota } from "./file-content.js";
import { FileError } from "./file-error.js";

interface InodeBase {
  readonly ino: number;
  /** Permission bits. */
  mode: number;
  atime: number;
  mtime: number;
  ctime: number;
  /** Whether a directory names it. */
  linked: boolean;
  /** How many open files hold it. */
  opens: number;
}

export interface FileInode extends InodeBase {
  readonly kind: "file";
  readonly content: FileContent;
}

export interface DirectoryInode extends InodeBase {
  readonly kind: "directory";
  readonly entries: Map<string, Inode>;
  parent: DirectoryInode;
}

export interface LinkInode extends InodeBase {
  readonly kind: "symlink";
  readonly target: string;
}

export type Inode = FileInode | DirectoryInode | LinkInode;

/** What an inode costs beside its content and its name, so that empty files count too. */
const inodeBytes = 1024;
/** More would fill the broker's heap, whatever the quota. */
const mostInodes = 1_000_000;
const longestName = 255;
/** Largest file: what a chunk table can address with room to spare, far above any quota. */
const largestFile = 2 ** 40;
/** The interpreter keeps these to itself (`/lib` is its standard library). */
const reserved = new Set(["dev", "lib", "proc"]);

/** The sandbox's files: a tree of inodes in memory, with a quota. Knows names and inodes; paths are `PathResolver`'s. */
export class FileSystem {
  readonly quota: Quota;
  readonly root: DirectoryInode;
  /** To be called once anything here is, or may be, different. */
  readonly changed: () => void;
  readonly #inodes = new Map<number, Inode>();
  #nextInode = 1;

  constructor(quotaBytes: number, onChange: () => void = () => undefined) {
    this.changed = onChange;
    this.quota = new Quota(quotaBytes);
    const base = this.#base(0o755);
    // The root is its own parent.
    const root: DirectoryInode = { ...base, kind: "directory", entries: new Map(), parent: undefined as never };
    root.parent = root;
    root.linked = true;
    this.root = root;
    this.#inodes.set(root.ino, root);
  }

  /** @throws FileError `ENOENT` */
  inode(ino: unknown): Inode {
    const inode = this.#inodes.get(Number(ino));
    if (!inode) throw new FileError("ENOENT", `inode ${ino}`);
    return inode;
  }

  lookup(parent: Inode, name: string): Inode | undefined {
    return asDirectory(parent).entries.get(name);
  }

  createFile(parent: Inode, name: string, mode: number): FileInode {
    return this.#enter(parent, name, () => this.detachedFile(mode));
  }

  /** A file without a name, to be given one by `replace` or given up by `release`. */
  detachedFile(mode: number): FileInode {
    return this.#register({ ...this.#base(mode), kind: "file", content: new FileContent(this.quota) });
  }

  createDirectory(parent: Inode, name: string, mode: number): DirectoryInode {
    const directory = asDirectory(parent);
    return this.#enter(directory, name, () =>
      this.#register({ ...this.#base(mode), kind: "directory", entries: new Map(), parent: directory }),
    );
  }

  createLink(parent: Inode, name: string, target: string): LinkInode {
    return this.#enter(parent, name, () => {
      const base = this.#base(0o777);
      try {
        this.quota.take(2 * target.length);
      } catch (error) {
        this.quota.give(inodeBytes);
        throw error;
      }
      return this.#register({ ...base, kind: "symlink", target });
    });
  }

  /** Gives what has no name one, in place of whatever file or link has it. */
  replace(parent: DirectoryInode, name: string, file: FileInode | LinkInode): void {
    checkName(parent, name);
    assertLinked(parent, name);
    const old = parent.entries.get(name);
    if (old?.kind === "directory") throw new FileError("EISDIR", name);
    parent.entries.set(name, file);
    file.linked = true;
    touch(parent);
    if (old) this.#unlink(old);
  }

  /** Removes a file or link. */
  unlink(parent: Inode, name: string): void {
    const directory = asDirectory(parent);
    const inode = this.#entry(directory, name);
    if (inode.kind === "directory") throw new FileError("EISDIR", name);
    this.#drop(directory, name, inode);
  }

  /** Removes an empty directory. */
  removeDirectory(parent: Inode, name: string): void {
    const directory = asDirectory(parent);
    const inode = asDirectory(this.#entry(directory, name));
    if (inode.entries.size > 0) throw new FileError("ENOTEMPTY", name);
    this.#drop(directory, name, inode);
  }

  /** Removes whatever has the name, with all in it. */
  removeTree(parent: DirectoryInode, name: string): void {
    const inode = this.#entry(parent, name);
    this.#drop(parent, name, inode);
    const waiting = inode.kind === "directory" ? [inode] : [];
    // The tree can be deeper than the stack.
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      for (const [childName, child] of [...next.entries]) {
        this.#drop(next, childName, child);
        if (child.kind === "directory") waiting.push(child);
      }
    }
  }

  /** POSIX rename: replaces a file by a file and an empty directory by a directory. */
  rename(parent: Inode, name: string, toParent: Inode, toName: string): void {
    const [from, to] = [asDirectory(parent), asDirectory(toParent)];
    const inode = this.#entry(from, name);
    checkName(to, toName);
    assertLinked(to, toName);
    const old = to.entries.get(toName);
    if (old === inode) return;
    if (inode.kind === "directory" && isWithin(to, inode)) throw new FileError("EINVAL", toName);
    if (old) {
      if (inode.kind === "directory" && old.kind !== "directory") throw new FileError("ENOTDIR", toName);
      if (inode.kind !== "directory" && old.kind === "directory") throw new FileError("EISDIR", toName);
      if (old.kind === "directory" && old.entries.size > 0) throw new FileError("ENOTEMPTY", toName);
      this.#drop(to, toName, old);
    }
    from.entries.delete(name);
    to.entries.set(toName, inode);
    if (inode.kind === "directory") inode.parent = to;
    inode.ctime = Date.now();
    touch(from);
    touch(to);
  }

  write(inode: FileInode, position: number, bytes: Uint8Array): void {
    if (position + bytes.length > largestFile) throw new FileError("EFBIG", "the file");
    inode.content.write(position, bytes);
    touch(inode);
  }

  truncate(inode: FileInode, size: number): void {
    if (size > largestFile) throw new FileError("EFBIG", "the file");
    inode.content.truncate(size);
    touch(inode);
  }

  /** Holds an inode while it is open, even without a name. */
  hold<Kind extends Inode>(inode: Kind): Kind {
    inode.opens += 1;
    return inode;
  }

  release(inode: Inode): void {
    inode.opens -= 1;
    this.#forget(inode);
  }

  #drop(parent: DirectoryInode, name: string, inode: Inode): void {
    parent.entries.delete(name);
    touch(parent);
    this.#unlink(inode);
  }

  #unlink(inode: Inode): void {
    inode.linked = false;
    inode.ctime = Date.now();
    this.#forget(inode);
  }

  #forget(inode: Inode): void {
    if (inode.linked || inode.opens > 0 || !this.#inodes.delete(inode.ino)) return;
    if (inode.kind === "file") inode.content.truncate(0);
    if (inode.kind === "symlink") this.quota.give(2 * inode.target.length);
    this.quota.give(inodeBytes);
  }

  #entry(parent: DirectoryInode, name: string): Inode {
    const inode = parent.entries.get(name);
    if (!inode) throw new FileError("ENOENT", name);
    return inode;
  }

  #enter<Kind extends Inode>(parent: Inode, name: string, make: () => Kind): Kind {
    const directory = asDirectory(parent);
    checkName(directory, name);
    if (directory.entries.has(name)) throw new FileError("EEXIST", name);
    assertLinked(directory, name);
    const inode = make();
    inode.linked = true;
    directory.entries.set(name, inode);
    touch(directory);
    return inode;
  }

  #base(mode: number): InodeBase {
    const now = Date.now();
    if (this.#inodes.size >= mostInodes) throw new FileError("ENOSPC", "the sandbox has too many files");
    this.quota.take(inodeBytes);
    return { ino: this.#nextInode++, mode: mode & 0o7777, atime: now, mtime: now, ctime: now, linked: false, opens: 0 };
  }

  #register<Kind extends Inode>(inode: Kind): Kind {
    this.#inodes.set(inode.ino, inode);
    return inode;
  }
}

/** Whether the interpreter keeps a name in the root to itself. */
export function isReserved(name: string): boolean {
  return reserved.has(name);
}

/** Stamps a change. Never the time of the change before, so that two changes can be told apart. */
function touch(inode: Inode): void {
  inode.ctime = Date.now();
  inode.mtime = Math.max(inode.ctime, inode.mtime + 1);
}

/** @throws FileError `ENOTDIR` */
export function asDirectory(inode: Inode): DirectoryInode {
  if (inode.kind !== "directory") throw new FileError("ENOTDIR", "a part of the path");
  return inode;
}

/** A directory that is removed but still open takes no new names. */
function assertLinked(directory: DirectoryInode, name: string): void {
  if (!directory.linked) throw new FileError("ENOENT", name);
}

/** Size as `stat` gives it. */
export function sizeOf(inode: Inode): number {
  if (inode.kind === "file") return inode.content.size;
  return inode.kind === "symlink" ? Buffer.byteLength(inode.target) : 4096;
}

function checkName(parent: DirectoryInode, name: string): void {
  if (name === "" || name === "." || name === ".." || /[/\0]/.test(name)) throw new FileError("EINVAL", name);
  if (Buffer.byteLength(name) > longestName) throw new FileError("ENAMETOOLONG", name);
  if (parent.parent === parent && isReserved(name)) throw new FileError("EACCES", `/${name}`);
}

function isWithin(directory: DirectoryInode, ancestor: DirectoryInode): boolean {
  for (let at = directory; ; at = at.parent) {
    if (at === ancestor) return true;
    if (at.parent === at) return false;
  }
}
