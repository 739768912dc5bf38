import { FileFailure } from "./broker.js";
import { bytesOfText } from "./bytes.js";
import { host } from "./globals.js";
import type { InodeFacts } from "./tree.js";

/** Directories that are there whether or not the sandbox has files in them. */
const directories: Readonly<Record<string, readonly string[]>> = {
  "/dev": ["fd", "full", "null", "random", "stderr", "stdin", "stdout", "urandom", "zero"],
  "/dev/fd": [],
};
const endless = new Set(["/dev/zero", "/dev/random", "/dev/urandom"]);

/** What the shell has beside the sandbox's files: devices, and its commands as files. */
export class Devices {
  readonly #commands: ReadonlySet<string>;
  readonly #refused: ReadonlySet<string>;
  readonly #names: readonly string[];

  /** @param refused Commands that only say why they are not there: files that nobody sees, and cannot be run. */
  constructor(commands: readonly string[], refused: readonly string[]) {
    this.#names = [...commands].sort();
    this.#refused = new Set(refused);
    this.#commands = new Set(commands);
  }

  /** What is at a path; undefined where only the sandbox's files count. */
  stat(path: string): InodeFacts | undefined {
    if (this.#isDirectory(path)) return facts(path, 0o040755);
    if (this.#isFile(path)) return facts(path, path.startsWith("/dev/") ? 0o100666 : 0o100755);
    return this.#isRefused(path) ? facts(path, 0o100644) : undefined;
  }

  /** Names to show in a directory beside the sandbox's own. */
  names(directory: string): readonly string[] {
    if (directory === "/") return ["bin", "dev", "usr"];
    if (directory === "/usr") return ["bin"];
    if (isCommandDirectory(directory)) return this.#names;
    return directories[directory] ?? [];
  }

  /** Content of one of its files; undefined for another's. @throws FileFailure for devices without an end */
  read(path: string): Uint8Array | undefined {
    if (endless.has(path)) {
      // Most commands take any failure for a missing file.
      host.write(2, bytesOfText(`sandkit: ${path}: has no end, and a file is read as a whole here\n`));
      throw new FileFailure("EINVAL", "read", path);
    }
    if (!this.#isFile(path)) return undefined;
    return path.startsWith("/dev/") ? new Uint8Array() : bytesOfText("#!/bin/sh\n# part of the shell\n");
  }

  /** Takes what is written to one of its files; false for another's. @throws FileFailure */
  write(path: string): boolean {
    if (!this.stat(path)) return false;
    if (!path.startsWith("/dev/")) throw new FileFailure("EACCES", "open", path);
    if (path === "/dev/full") throw new FileFailure("ENOSPC", "write", path);
    return true;
  }

  #isDirectory(path: string): boolean {
    return path in directories || isCommandDirectory(path) || path === "/usr";
  }

  #isRefused(path: string): boolean {
    const slash = path.lastIndexOf("/");
    return isCommandDirectory(path.slice(0, slash)) && this.#refused.has(path.slice(slash + 1));
  }

  #isFile(path: string): boolean {
    const slash = path.lastIndexOf("/");
    const [directory, name] = [path.slice(0, slash), path.slice(slash + 1)];
    if (isCommandDirectory(directory)) return this.#commands.has(name);
    return directory === "/dev" && (directories["/dev"] ?? []).includes(name);
  }
}

function isCommandDirectory(path: string): boolean {
  return path === "/bin" || path === "/usr/bin";
}

/** Inode numbers that no file of the sandbox has, and that tell these apart. */
function facts(path: string, mode: number): InodeFacts {
  let hash = 0;
  for (let index = 0; index < path.length; index += 1) hash = (hash * 31 + path.charCodeAt(index)) | 0;
  return { ino: 2 ** 40 + (hash >>> 0), mode, size: 0, mtime: 0 };
}
