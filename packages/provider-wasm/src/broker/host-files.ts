import type { ListFilesOptions } from "@sandkit/core";
import type { FileRecord, WriteFileOptions } from "../protocol.js";
import { FileError } from "./file-error.js";
import { type DirectoryInode, type FileInode, type FileSystem, type Inode, sizeOf } from "./filesystem.js";
import { ensureDirectory, inodeAt, resolvePath } from "./path-resolver.js";

interface OpenRead {
  readonly file: FileInode;
  position: number;
}

interface OpenWrite {
  readonly path: string;
  readonly options: WriteFileOptions;
  /** Takes the bytes: the file itself when appending, else one without a name yet. */
  readonly file: FileInode;
}

/** The file operations of the caller's process: by path, whole files in pieces. */
export class HostFiles {
  readonly #files: FileSystem;
  readonly #reads = new Map<number, OpenRead>();
  readonly #writes = new Map<number, OpenWrite>();
  #nextHandle = 1;

  constructor(files: FileSystem) {
    this.#files = files;
  }

  stat(path: string, followLinks: boolean): FileRecord {
    return record(path, inodeAt(this.#files, path, followLinks));
  }

  /** In the order of the paths' code units. */
  list(path: string, { recursive, maxDepth, limit = Number.POSITIVE_INFINITY }: ListFilesOptions): FileRecord[] {
    const inode = inodeAt(this.#files, path);
    if (inode.kind !== "directory") throw new FileError("ENOTDIR", path);
    const depth = recursive ? (maxDepth ?? Number.POSITIVE_INFINITY) : 1;
    const found = walk(inode, path === "/" ? "" : path, depth);
    return found.sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, limit);
  }

  mkdir(path: string): void {
    ensureDirectory(this.#files, path);
  }

  move(from: string, to: string): void {
    const source = resolvePath(this.#files, from, { followLast: false });
    if (!source.inode) throw new FileError("ENOENT", from);
    if (source.name === "") throw new FileError("EBUSY", from);
    const target = resolvePath(this.#files, to, { followLast: false, makeParents: true });
    this.#files.rename(source.parent, source.name, target.parent, target.name);
  }

  symlink(target: string, path: string): void {
    const { parent, name, inode } = resolvePath(this.#files, path, { followLast: false, makeParents: true });
    if (inode) throw new FileError("EEXIST", path);
    this.#files.createLink(parent, name, target);
  }

  remove(path: string, recursive: boolean): boolean {
    const { parent, name, inode } = this.#find(path);
    if (!inode || !parent) return false;
    if (name === "") throw new FileError("EBUSY", path);
    if (inode.kind === "directory" && !recursive) throw new FileError("EISDIR", path);
    this.#files.removeTree(parent, name);
    return true;
  }

  openRead(path: string, offset: number): number {
    const inode = inodeAt(this.#files, path);
    if (inode.kind === "directory") throw new FileError("EISDIR", path);
    if (inode.kind !== "file") throw new FileError("EINVAL", path);
    return this.#keep(this.#reads, { file: this.#files.hold(inode), position: offset });
  }

  read(handle: number, length: number): Uint8Array {
    const open = this.#taken(this.#reads, handle);
    const left = Math.max(0, open.file.content.size - open.position);
    const bytes = new Uint8Array(Math.min(length, left));
    open.position += open.file.content.read(open.position, bytes);
    return bytes;
  }

  closeRead(handle: number): void {
    const open = this.#reads.get(handle);
    if (this.#reads.delete(handle) && open) this.#files.release(open.file);
  }

  openWrite(path: string, options: WriteFileOptions): number {
    const { parent, name, inode } = resolvePath(this.#files, path, { followLast: true, makeParents: true });
    checkWrite(path, inode, options);
    const appends = options.mode === "append";
    const mode = options.permissions ?? inode?.mode ?? 0o644;
    const existing = appends ? (inode ?? this.#files.createFile(parent, name, mode)) : undefined;
    const file = existing?.kind === "file" ? existing : this.#files.detachedFile(mode);
    return this.#keep(this.#writes, { path, options, file: this.#files.hold(file) });
  }

  append(handle: number, bytes: Uint8Array): void {
    const { file } = this.#taken(this.#writes, handle);
    this.#files.write(file, file.content.size, bytes);
  }

  commit(handle: number): void {
    const { path, options, file } = this.#taken(this.#writes, handle);
    try {
      if (options.mode === "append") {
        if (options.permissions !== undefined) file.mode = options.permissions & 0o7777;
        return;
      }
      // Looked up again: the tree may have changed while the bytes came in.
      const { parent, name, inode } = resolvePath(this.#files, path, { followLast: true, makeParents: true });
      checkWrite(path, inode, options);
      if (inode) file.mtime = Math.max(file.mtime, inode.mtime + 1);
      this.#files.replace(parent, name, file);
    } finally {
      this.abandon(handle);
    }
  }

  abandon(handle: number): void {
    const open = this.#writes.get(handle);
    if (this.#writes.delete(handle) && open) this.#files.release(open.file);
  }

  #find(path: string): { parent?: DirectoryInode; name: string; inode?: Inode | undefined } {
    try {
      return resolvePath(this.#files, path, { followLast: false });
    } catch (error) {
      if (error instanceof FileError && error.errno === "ENOENT") return { name: "" };
      throw error;
    }
  }

  #keep<Open>(table: Map<number, Open>, open: Open): number {
    const handle = this.#nextHandle++;
    table.set(handle, open);
    return handle;
  }

  #taken<Open>(table: Map<number, Open>, handle: number): Open {
    const open = table.get(handle);
    if (!open) throw new FileError("EBADF", `handle ${handle}`);
    return open;
  }
}

function checkWrite(path: string, inode: Inode | undefined, options: WriteFileOptions): void {
  if (inode && inode.kind !== "file") throw new FileError(inode.kind === "directory" ? "EISDIR" : "EINVAL", path);
  if (inode && options.mode === "exclusive") throw new FileError("EEXIST", path);
  if (options.ifModifiedAt === undefined) return;
  if (!inode) throw new FileError("ENOENT", path);
  if (inode.mtime !== options.ifModifiedAt) throw new FileError("ESTALE", path);
}

/** Characters of all paths of one listing: a guest's tree can be deeper than any stack and longer than any message. */
const longestListing = 64 * 1024 * 1024;

function walk(top: DirectoryInode, base: string, depth: number): FileRecord[] {
  const found: FileRecord[] = [];
  const waiting = [{ directory: top, base, depth }];
  let length = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const [name, inode] of next.directory.entries) {
      const path = `${next.base}/${name}`;
      length += path.length;
      if (length > longestListing) throw new FileError("E2BIG", base);
      found.push(record(path, inode));
      if (inode.kind === "directory" && next.depth > 1) {
        waiting.push({ directory: inode, base: path, depth: next.depth - 1 });
      }
    }
  }
  return found;
}

function record(path: string, inode: Inode): FileRecord {
  return {
    path,
    type: inode.kind,
    size: sizeOf(inode),
    mode: inode.mode,
    modifiedAt: inode.mtime,
    ...(inode.kind === "symlink" && { symlinkTarget: inode.target }),
  };
}
