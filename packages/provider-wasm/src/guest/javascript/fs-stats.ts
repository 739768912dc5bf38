import type { Info } from "./files.js";
import { typeOf } from "./fs-constants.js";

export class Stats {
  readonly dev = 1;
  readonly ino: number;
  readonly mode: number;
  readonly nlink: number;
  readonly uid = 0;
  readonly gid = 0;
  readonly rdev = 0;
  readonly size: number;
  readonly blksize = 4096;
  readonly blocks: number;
  readonly atimeMs: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly birthtimeMs: number;
  readonly atime: Date;
  readonly mtime: Date;
  readonly ctime: Date;
  readonly birthtime: Date;

  constructor(info: Info) {
    this.ino = info.ino;
    this.mode = info.mode;
    this.nlink = info.links;
    this.size = info.size;
    this.blocks = Math.ceil(info.size / 512);
    [this.atimeMs, this.mtimeMs, this.ctimeMs, this.birthtimeMs] = [info.atime, info.mtime, info.ctime, info.ctime];
    [this.atime, this.mtime] = [new Date(info.atime), new Date(info.mtime)];
    [this.ctime, this.birthtime] = [new Date(info.ctime), new Date(info.ctime)];
  }

  isFile(): boolean {
    return typeOf(this.mode) === "file";
  }

  isDirectory(): boolean {
    return typeOf(this.mode) === "directory";
  }

  isSymbolicLink(): boolean {
    return typeOf(this.mode) === "link";
  }
}
// What this file system never has.
for (const name of ["isFIFO", "isSocket", "isBlockDevice", "isCharacterDevice"]) {
  Object.defineProperty(Stats.prototype, name, { value: () => false, configurable: true, writable: true });
}

export class Dirent {
  readonly name: string;
  readonly parentPath: string;
  readonly path: string;
  readonly #mode: number;

  constructor(name: string, parentPath: string, mode: number) {
    this.name = name;
    this.parentPath = parentPath;
    this.path = parentPath;
    this.#mode = mode;
  }

  isFile(): boolean {
    return typeOf(this.#mode) === "file";
  }

  isDirectory(): boolean {
    return typeOf(this.#mode) === "directory";
  }

  isSymbolicLink(): boolean {
    return typeOf(this.#mode) === "link";
  }
}
