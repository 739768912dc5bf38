import { Buffer } from "./buffer.js";
import { existing, file, fileError, find, type Info, readAt, readInput, writeAt } from "./files.js";
import { printBytes } from "./host.js";
import { resolve } from "./path.js";
import { fileUrlPath } from "./url.js";

type Path = string | Uint8Array | { readonly href: string };
type Options = { encoding?: string | null; flag?: string; mode?: number } | string | null;
type Data = string | ArrayBufferView;

interface OpenFile {
  readonly handle: number;
  readonly flags: Flags;
  position: number;
}

interface Flags {
  readonly read: boolean;
  readonly write: boolean;
  readonly append: boolean;
  readonly create: boolean;
  readonly truncate: boolean;
  readonly exclusive: boolean;
}

const types = { mask: 0o170000, file: 0o100000, directory: 0o040000, link: 0o120000 } as const;
const umask = 0o022;
const firstDescriptor = 3;
const open = new Map<number, OpenFile>();
let nextDescriptor = firstDescriptor;

/** Numbers that Node has in `fs.constants`. */
export const constants = {
  F_OK: 0,
  R_OK: 4,
  W_OK: 2,
  X_OK: 1,
  COPYFILE_EXCL: 1,
  O_RDONLY: 0,
  O_WRONLY: 1,
  O_RDWR: 2,
  O_CREAT: 0o100,
  O_EXCL: 0o200,
  O_TRUNC: 0o1000,
  O_APPEND: 0o2000,
  S_IFMT: types.mask,
  S_IFREG: types.file,
  S_IFDIR: types.directory,
  S_IFLNK: types.link,
};

function pathOf(path: Path): string {
  const text =
    typeof path === "string" ? path : path instanceof Uint8Array ? Buffer.from(path).toString() : fileUrlPath(path);
  if (text.includes("\0")) {
    const error = new TypeError("The argument 'path' must be a string without null bytes");
    throw Object.assign(error, { code: "ERR_INVALID_ARG_VALUE" });
  }
  return resolve(text);
}

function flagsOf(flag: string | number): Flags {
  if (typeof flag === "number") {
    const access = flag & 3;
    return {
      read: access !== constants.O_WRONLY,
      write: access !== constants.O_RDONLY,
      append: (flag & constants.O_APPEND) !== 0,
      create: (flag & constants.O_CREAT) !== 0,
      truncate: (flag & constants.O_TRUNC) !== 0,
      exclusive: (flag & constants.O_EXCL) !== 0,
    };
  }
  const match = /^(?:(r)s?|(w)|(a)s?)(x?)(\+?)$|^(?:rs|as)\+$/.exec(flag);
  if (!match)
    throw Object.assign(new TypeError(`The argument 'flags' is invalid. Received '${flag}'`), {
      code: "ERR_INVALID_ARG_VALUE",
    });
  const [kind, plus] = [flag[0], flag.includes("+")];
  return {
    read: kind === "r" || plus,
    write: kind !== "r" || plus,
    append: kind === "a",
    create: kind !== "r",
    truncate: kind === "w",
    exclusive: flag.includes("x"),
  };
}

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

function typeOf(mode: number): "file" | "directory" | "link" {
  const bits = mode & types.mask;
  return bits === types.directory ? "directory" : bits === types.link ? "link" : "file";
}

export function openSync(path: Path, flag: string | number = "r", mode = 0o666): number {
  const flags = flagsOf(flag);
  const whole = pathOf(path);
  const standard = ["/dev/stdin", "/dev/stdout", "/dev/stderr"].indexOf(whole);
  if (standard >= 0) return standard;
  const descriptor = nextDescriptor;
  open.set(descriptor, { handle: openHandle(whole, flags, mode), flags, position: 0 });
  nextDescriptor += 1;
  return descriptor;
}

function openHandle(path: string, flags: Flags, mode: number): number {
  const place = find(path, true, "open");
  if (place.info && flags.create && flags.exclusive) throw fileError("EEXIST", "open", path);
  if (!place.info && !flags.create) throw fileError("ENOENT", "open", path);
  const subject = { syscall: "open", path };
  const info = place.info ?? file<Info>("mknod", [place.parent, place.name, types.file | (mode & ~umask)], subject);
  if (flags.write && typeOf(info.mode) === "directory") throw fileError("EISDIR", "open", path);
  const handle = file<number>("open", [info.ino], subject);
  if (flags.truncate && info.size > 0) file("fsetattr", [handle, { size: 0 }], subject);
  return handle;
}

function opened(descriptor: number, syscall: string): OpenFile {
  const found = open.get(descriptor);
  if (!found) throw fileError("EBADF", syscall);
  return found;
}

export function closeSync(descriptor: number): void {
  if (descriptor >= 0 && descriptor < firstDescriptor) return;
  const { handle } = opened(descriptor, "close");
  open.delete(descriptor);
  file("close", [handle], { syscall: "close" });
}

export function readSync(
  descriptor: number,
  target: ArrayBufferView,
  offsetOrOptions: number | { offset?: number; length?: number; position?: number | null } = 0,
  lengthGiven?: number,
  positionGiven: number | null = null,
): number {
  const given =
    typeof offsetOrOptions === "object"
      ? offsetOrOptions
      : { offset: offsetOrOptions, length: lengthGiven, position: positionGiven };
  const { offset = 0, position = null } = given;
  const bytes = new Uint8Array(target.buffer, target.byteOffset + offset, given.length ?? target.byteLength - offset);
  if (descriptor === 0) {
    const input = inputBytes(bytes.length);
    bytes.set(input);
    return input.length;
  }
  const found = opened(descriptor, "read");
  if (!found.flags.read) throw fileError("EBADF", "read");
  const count = readAt(found.handle, position ?? found.position, bytes);
  if (position === null) found.position += count;
  return count;
}

/** Waits for input as long as it takes; a signal is for others to see. */
function inputBytes(length: number): Uint8Array {
  for (;;) {
    const bytes = readInput(length);
    if (bytes) return bytes;
  }
}

export function writeSync(
  descriptor: number,
  data: Data,
  offset?: number,
  length?: number | string,
  position?: number | null,
): number {
  const bytes =
    typeof data === "string"
      ? Buffer.from(data, typeof length === "string" ? length : "utf8")
      : new Uint8Array(
          data.buffer,
          data.byteOffset + (offset ?? 0),
          typeof length === "number" ? length : data.byteLength - (offset ?? 0),
        );
  if (descriptor === 1 || descriptor === 2) {
    printBytes(descriptor, bytes);
    return bytes.length;
  }
  const found = opened(descriptor, "write");
  if (!found.flags.write) throw fileError("EBADF", "write");
  const at = (typeof data === "string" ? offset : position) ?? found.position;
  writeAt(found.handle, found.flags.append ? "end" : at, bytes);
  if (at === found.position) found.position += bytes.length;
  return bytes.length;
}

export function readFileSync(path: Path | number, options?: Options): string | Buffer {
  const encoding = typeof options === "string" ? options : options?.encoding;
  const bytes = readWhole(path, typeof options === "object" ? options?.flag : undefined);
  return encoding ? bytes.toString(encoding) : bytes;
}

function readWhole(path: Path | number, flag: string | undefined): Buffer {
  const descriptor = typeof path === "number" ? path : openSync(path, flag ?? "r");
  try {
    if (descriptor === 0) return readAllInput();
    const found = opened(descriptor, "read");
    const { size, mode } = file<Info>("fstat", [found.handle], { syscall: "read" });
    if (typeOf(mode) === "directory") throw fileError("EISDIR", "read");
    const bytes = Buffer.alloc(Math.max(0, size - found.position));
    const count = readAt(found.handle, found.position, bytes);
    if (typeof path === "number") found.position += count;
    return count < bytes.length ? bytes.subarray(0, count) : bytes;
  } finally {
    if (typeof path !== "number") closeSync(descriptor);
  }
}

function readAllInput(): Buffer {
  const pieces: Uint8Array[] = [];
  for (let piece = inputBytes(1 << 18); piece.length > 0; piece = inputBytes(1 << 18)) pieces.push(piece);
  return Buffer.concat(pieces);
}

export function writeFileSync(path: Path | number, data: unknown, options?: Options): void {
  const {
    encoding = "utf8",
    flag = "w",
    mode = 0o666,
  } = typeof options === "string" ? { encoding: options } : (options ?? {});
  const bytes = dataBytes(data, encoding ?? "utf8");
  const descriptor = typeof path === "number" ? path : openSync(path, flag, mode);
  try {
    writeSync(descriptor, bytes);
  } finally {
    if (typeof path !== "number") closeSync(descriptor);
  }
}

function dataBytes(data: unknown, encoding: string): Uint8Array {
  if (typeof data === "string") return Buffer.from(data, encoding);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const error = new TypeError(
    'The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView.',
  );
  throw Object.assign(error, { code: "ERR_INVALID_ARG_TYPE" });
}

export function appendFileSync(path: Path | number, data: unknown, options?: Options): void {
  writeFileSync(path, data, { flag: "a", ...(typeof options === "string" ? { encoding: options } : options) });
}

export function existsSync(path: Path): boolean {
  try {
    return find(pathOf(path), true, "access").info !== undefined;
  } catch {
    // As in Node: whatever is wrong with the path, nothing is there.
    return false;
  }
}

export function accessSync(path: Path): void {
  existing(pathOf(path), true, "access");
}

export function statSync(path: Path, options?: { throwIfNoEntry?: boolean }): Stats | undefined {
  return stat(path, true, options);
}

export function lstatSync(path: Path, options?: { throwIfNoEntry?: boolean }): Stats | undefined {
  return stat(path, false, options);
}

function stat(path: Path, follow: boolean, { throwIfNoEntry = true } = {}): Stats | undefined {
  try {
    return new Stats(existing(pathOf(path), follow, follow ? "stat" : "lstat").info);
  } catch (error) {
    if (!throwIfNoEntry && ["ENOENT", "ENOTDIR"].includes((error as { code?: string }).code ?? "")) return undefined;
    throw error;
  }
}

export function fstatSync(descriptor: number): Stats {
  return new Stats(file<Info>("fstat", [opened(descriptor, "fstat").handle], { syscall: "fstat" }));
}

export function readdirSync(
  path: Path,
  options?: { withFileTypes?: boolean; recursive?: boolean; encoding?: string } | string | null,
): (string | Dirent)[] {
  const { withFileTypes = false, recursive = false } = typeof options === "object" && options !== null ? options : {};
  const top = pathOf(path);
  const found: Dirent[] = [];
  const waiting: [path: string, ino: number][] = [[top, existing(top, true, "scandir").info.ino]];
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [directory, ino] = next;
    const entries = file<[string, number, number][]>("readdir", [ino], { syscall: "scandir", path: top });
    for (const [name, child, mode] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) {
      found.push(new Dirent(name, directory, mode));
      if (recursive && typeOf(mode) === "directory")
        waiting.push([`${directory === "/" ? "" : directory}/${name}`, child]);
    }
  }
  if (withFileTypes) return found;
  const prefix = top === "/" ? 1 : top.length + 1;
  return found.map(({ parentPath, name }) => `${parentPath === "/" ? "" : parentPath}/${name}`.slice(prefix));
}

export function mkdirSync(path: Path, options?: { recursive?: boolean; mode?: number } | number): string | undefined {
  const { recursive = false, mode = 0o777 } = typeof options === "object" ? options : { mode: options };
  const whole = pathOf(path);
  if (!recursive) {
    makeDirectory(whole, mode);
    return undefined;
  }
  let first: string | undefined;
  const names = whole.split("/").slice(1);
  for (let depth = 1; depth <= names.length; depth += 1) {
    const at = `/${names.slice(0, depth).join("/")}`;
    const { info } = find(at, true, "mkdir");
    if (info && typeOf(info.mode) !== "directory")
      throw fileError(depth === names.length ? "EEXIST" : "ENOTDIR", "mkdir", whole);
    if (info) continue;
    makeDirectory(at, mode);
    first ??= at;
  }
  return first;
}

function makeDirectory(path: string, mode: number): void {
  const { parent, name, info } = find(path, false, "mkdir");
  if (info) throw fileError("EEXIST", "mkdir", path);
  file("mknod", [parent, name, types.directory | (mode & ~umask)], { syscall: "mkdir", path });
}

export function mkdtempSync(prefix: string): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const suffix = Array.from({ length: 6 }, () => letters[Math.floor(Math.random() * letters.length)]).join("");
  makeDirectory(resolve(prefix + suffix), 0o700);
  return prefix + suffix;
}

export function rmSync(path: Path, { recursive = false, force = false } = {}): void {
  const whole = pathOf(path);
  const { parent, name, info } = force ? quietly(whole) : existing(whole, false, "rm");
  if (!info) return;
  if (typeOf(info.mode) !== "directory") {
    file("unlink", [parent, name], { syscall: "rm", path: whole });
    return;
  }
  if (!recursive) {
    const error = new Error(`Path is a directory: rm returned EISDIR (is a directory) ${whole}`);
    throw Object.assign(error, { name: "SystemError", code: "ERR_FS_EISDIR" });
  }
  for (const entry of readdirSync(whole)) rmSync(`${whole}/${String(entry)}`, { recursive, force });
  file("rmdir", [parent, name], { syscall: "rm", path: whole });
}

function quietly(path: string): ReturnType<typeof find> {
  try {
    return find(path, false, "rm");
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOENT") throw error;
    return { parent: 0, name: "", path, info: undefined };
  }
}

export function rmdirSync(path: Path): void {
  const whole = pathOf(path);
  const { parent, name } = existing(whole, false, "rmdir");
  file("rmdir", [parent, name], { syscall: "rmdir", path: whole });
}

export function unlinkSync(path: Path): void {
  const whole = pathOf(path);
  const { parent, name } = existing(whole, false, "unlink");
  file("unlink", [parent, name], { syscall: "unlink", path: whole });
}

export function renameSync(from: Path, to: Path): void {
  const [path, target] = [pathOf(from), pathOf(to)];
  const source = existing(path, false, "rename");
  const place = find(target, false, "rename");
  file("rename", [source.parent, source.name, place.parent, place.name], { syscall: "rename", path, target });
}

export function copyFileSync(from: Path, to: Path, mode = 0): void {
  const bytes = readWhole(pathOf(from), undefined);
  writeFileSync(to, bytes, { flag: mode & constants.COPYFILE_EXCL ? "wx" : "w" });
}

export function symlinkSync(target: Path, path: Path): void {
  const whole = pathOf(path);
  const { parent, name, info } = find(whole, false, "symlink");
  if (info) throw fileError("EEXIST", "symlink", String(target), whole);
  file("symlink", [parent, name, String(target)], { syscall: "symlink", path: whole });
}

export function readlinkSync(path: Path): string {
  const whole = pathOf(path);
  return file("readlink", [existing(whole, false, "readlink").info.ino], { syscall: "readlink", path: whole });
}

export function realpathSync(path: Path): string {
  return existing(pathOf(path), true, "realpath").path;
}
realpathSync.native = realpathSync;

export function chmodSync(path: Path, mode: number | string): void {
  change(path, "chmod", { mode: typeof mode === "string" ? Number.parseInt(mode, 8) : mode });
}

export function truncateSync(path: Path, size = 0): void {
  change(path, "truncate", { size });
}

export function ftruncateSync(descriptor: number, size = 0): void {
  file("fsetattr", [opened(descriptor, "ftruncate").handle, { size }], { syscall: "ftruncate" });
}

export function utimesSync(path: Path, atime: number | Date, mtime: number | Date): void {
  const ms = (time: number | Date) => (typeof time === "number" ? time * 1000 : time.getTime());
  change(path, "utime", { atime: ms(atime), mtime: ms(mtime) });
}

export function fsyncSync(descriptor: number): void {
  opened(descriptor, "fsync");
}

function change(path: Path, syscall: string, changes: Record<string, number>): void {
  const whole = pathOf(path);
  file("setattr", [existing(whole, true, syscall).info.ino, changes], { syscall, path: whole });
}
