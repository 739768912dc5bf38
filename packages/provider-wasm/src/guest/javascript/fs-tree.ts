import { existing, file, fileError, find } from "./files.js";
import { constants, typeBits, typeOf, umask } from "./fs-constants.js";
import { readFileSync, writeFileSync } from "./fs-descriptors.js";
import { type Path, pathOf } from "./fs-path.js";
import { Dirent, Stats } from "./fs-stats.js";
import { resolve } from "./path.js";

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
  file("mknod", [parent, name, typeBits.directory | (mode & ~umask)], { syscall: "mkdir", path });
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
  writeFileSync(to, readFileSync(from), { flag: mode & constants.COPYFILE_EXCL ? "wx" : "w" });
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

export function utimesSync(path: Path, atime: number | Date, mtime: number | Date): void {
  const ms = (time: number | Date) => (typeof time === "number" ? time * 1000 : time.getTime());
  change(path, "utime", { atime: ms(atime), mtime: ms(mtime) });
}

function change(path: Path, syscall: string, changes: Record<string, number>): void {
  const whole = pathOf(path);
  file("setattr", [existing(whole, true, syscall).info.ino, changes], { syscall, path: whole });
}
