import { posix } from "node:path";
import { FileError } from "./file-error.js";
import { asDirectory, type DirectoryInode, type FileSystem, type Inode } from "./filesystem.js";
import { type Place, resolvePath } from "./path-resolver.js";

/**
 * Changes of files that are made all together: until `commit` each can be taken back, and what it replaced is kept, on
 * the quota too. Nobody sees a state between, as long as nothing is awaited.
 */
export class FileChange {
  readonly #files: FileSystem;
  /** Directories that stay when they are empty. */
  readonly #kept: ReadonlySet<Inode | undefined>;
  readonly #undo: (() => void)[] = [];
  /** Removes trees for good, when nothing can fail any more. */
  readonly #removals: (() => void)[] = [];
  /** Directories that may have become empty, with the ways to them. */
  readonly #emptied = new Map<DirectoryInode, Place["steps"]>();
  readonly #held: Inode[] = [];
  /** Names of what waits to be removed. */
  #aside = 0;

  constructor(files: FileSystem, kept: readonly string[]) {
    this.#files = files;
    this.#kept = new Set(kept.map((path) => placeOf(files, path)?.inode));
  }

  /** Writes a file, with its directories, in place of whatever file or link is there. @throws FileError */
  put(path: string, mode: number, content: Uint8Array): void {
    const parent = this.#directory(posix.dirname(path));
    const name = posix.basename(path);
    const old = parent.entries.get(name);
    if (old?.kind === "directory") throw new FileError("EISDIR", path);
    const file = this.#files.hold(this.#files.detachedFile(mode));
    try {
      this.#files.write(file, 0, content);
      if (old) this.#hold(old);
      this.#files.replace(parent, name, file);
    } finally {
      this.#files.release(file);
    }
    this.#undo.push(() => (old ? this.#files.replace(parent, name, old) : this.#files.unlink(parent, name)));
  }

  /** Removes a file or link, and at the end the directories that it leaves empty. Content with what is not there. */
  remove(path: string): void {
    const place = placeOf(this.#files, path);
    if (!place?.inode || place.inode.kind === "directory") return;
    const { parent, name, inode, steps } = place;
    this.#hold(inode);
    this.#files.unlink(parent, name);
    this.#undo.push(() => this.#files.replace(parent, name, inode));
    this.#emptied.set(parent, steps.slice(0, -1));
  }

  /** Removes a directory with all in it. Content with what is not there. */
  removeTree(path: string): void {
    const place = placeOf(this.#files, path);
    if (place?.inode?.kind !== "directory") {
      this.remove(path);
      return;
    }
    const { parent, name } = place;
    // Under another name until the end: one of the same name may come in its place.
    let aside: string;
    do {
      this.#aside += 1;
      aside = `~${this.#aside}`;
    } while (parent.entries.has(aside));
    this.#files.rename(parent, name, parent, aside);
    this.#undo.push(() => this.#files.rename(parent, aside, parent, name));
    this.#removals.push(() => this.#files.removeTree(parent, aside));
  }

  commit(): void {
    for (const remove of this.#removals) remove();
    for (const steps of this.#emptied.values()) this.#prune(steps);
    this.#release();
  }

  /** Everything is as it was. */
  rollback(): void {
    for (const undo of this.#undo.reverse()) undo();
    this.#release();
  }

  #directory(path: string): DirectoryInode {
    const there = placeOf(this.#files, path, true)?.inode;
    if (there) return asDirectory(there);
    const [parent, name] = [this.#directory(posix.dirname(path)), posix.basename(path)];
    const made = this.#files.createDirectory(parent, name, 0o755);
    this.#undo.push(() => this.#files.removeDirectory(parent, name));
    return made;
  }

  /** Removes the last directory of a way when it is empty, and so on upwards. */
  #prune(steps: Place["steps"]): void {
    for (const { name, inode } of steps.toReversed()) {
      if (inode.kind !== "directory" || inode.entries.size > 0 || this.#kept.has(inode)) return;
      // One that has gone already, or has another name by now.
      if (inode.parent.entries.get(name) !== inode) return;
      this.#files.removeDirectory(inode.parent, name);
    }
  }

  #hold(inode: Inode): void {
    this.#held.push(this.#files.hold(inode));
  }

  #release(): void {
    for (const inode of this.#held) this.#files.release(inode);
  }
}

/** Where a path leads; undefined where one of its directories is not there. */
export function placeOf(files: FileSystem, path: string, followLast = false): Place | undefined {
  try {
    return resolvePath(files, path, { followLast });
  } catch (error) {
    if (error instanceof FileError && (error.errno === "ENOENT" || error.errno === "ENOTDIR")) return undefined;
    throw error;
  }
}
