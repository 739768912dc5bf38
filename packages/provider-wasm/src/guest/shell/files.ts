import type { ExecResult, IFileSystem } from "just-bash";
import { scriptDirectory } from "../../packages/script-directory.js";
import { readShebang, shebangBytes } from "../../shebang.js";
import { askFiles, FileFailure } from "./broker.js";
import { bytesOfLatin1, bytesOfText, latin1 } from "./bytes.js";
import type { Devices } from "./devices.js";
import {
  copyTree,
  entries,
  find,
  type InodeFacts,
  isDirectory,
  isFile,
  isLink,
  readAll,
  removeTree,
  walk,
  writeAll,
} from "./tree.js";

type Encoding = Parameters<IFileSystem["writeFile"]>[2];
type Stat = Awaited<ReturnType<IFileSystem["stat"]>>;
type ByteText = Awaited<ReturnType<NonNullable<IFileSystem["readFileBytes"]>>>;

/** What is run in place of a file. */
type ScriptCommand = { readonly name: string; readonly args: readonly string[] } | { readonly refused: ExecResult };

/** The sandbox's files as just-bash wants them, with the shell's own devices and commands over them. */
export class ShellFiles implements IFileSystem {
  /** Permissions that new files do not get. */
  umask = 0o022;
  readonly #devices: Devices;

  constructor(devices: Devices) {
    this.#devices = devices;
  }

  /**
   * Called by just-bash, as it is patched, for an executable file: the command that runs it instead, or the end of it.
   * Undefined where it is a script of the shell.
   */
  async scriptCommand(name: string, path: string): Promise<ScriptCommand | undefined> {
    const runner = readShebang(latin1(this.#read(path).subarray(0, shebangBytes)));
    if (runner.by === "nothing") {
      return { refused: { stdout: "", stderr: `bash: ${name}: ${runner.reason}\n`, exitCode: 126 } };
    }
    if (runner.by === "shell") return undefined;
    const script = name.includes("/") ? name : path;
    return { name: runner.by === "python" ? "python3" : "node", args: [...runner.args, script] };
  }

  /** Whether a command may be a file of the sandbox. Called by just-bash, as it is patched. */
  isProgram(name: string): boolean {
    if (name.includes("/")) return !/^\/(?:usr\/)?bin\//.test(name);
    const info = this.#lookUp(`${scriptDirectory}/${name}`, true);
    return info !== undefined && isFile(info.mode);
  }

  async readFile(path: string, options?: Parameters<IFileSystem["readFile"]>[1]): Promise<string> {
    const encoding = typeof options === "string" ? options : (options?.encoding ?? "utf8");
    const bytes = this.#read(path);
    return isBinary(encoding) ? latin1(bytes) : new TextDecoder().decode(bytes);
  }

  async readFileBytes(path: string): Promise<ByteText> {
    return latin1(this.#read(path)) as unknown as ByteText;
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    return this.#read(path);
  }

  async writeFile(path: string, content: string | Uint8Array, options?: Encoding): Promise<void> {
    this.#write(path, content, options, false);
  }

  async appendFile(path: string, content: string | Uint8Array, options?: Encoding): Promise<void> {
    this.#write(path, content, options, true);
  }

  async exists(path: string): Promise<boolean> {
    return this.#lookUp(path, true) !== undefined;
  }

  async stat(path: string): Promise<Stat> {
    return this.#stat(path, true);
  }

  async lstat(path: string): Promise<Stat> {
    return this.#stat(path, false);
  }

  async mkdir(path: string, options: { recursive?: boolean } = {}): Promise<void> {
    const names = path.split("/").filter(Boolean);
    for (let depth = options.recursive ? 1 : names.length; depth <= names.length; depth += 1) {
      const part = `/${names.slice(0, depth).join("/")}`;
      const there = this.#lookUp(part, true);
      if (there && (!options.recursive || !isDirectory(there.mode))) throw new FileFailure("EEXIST", "mkdir", path);
      if (there && !this.#isOverlaid(part)) continue;
      const { parent, name, info } = walk(part);
      if (!info) askFiles("mknod", path, [parent, name, 0o040000 | (0o777 & ~this.umask)]);
    }
    if (names.length === 0 && !options.recursive) throw new FileFailure("EEXIST", "mkdir", path);
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name);
  }

  async readdirWithFileTypes(path: string) {
    const modes = new Map<string, number>();
    for (const name of this.#devices.names(path)) {
      modes.set(name, this.#devices.stat(path === "/" ? `/${name}` : `${path}/${name}`)?.mode ?? 0);
    }
    if (path !== "/dev" && !path.startsWith("/dev/")) this.#addOwn(path, modes);
    return Array.from(modes, ([name, mode]) => ({
      name,
      isFile: isFile(mode),
      isDirectory: isDirectory(mode),
      isSymbolicLink: isLink(mode),
    })).sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  async rm(path: string, options: { recursive?: boolean; force?: boolean } = {}): Promise<void> {
    const { parent, name, info } = this.#own(path, "rm", options.force);
    if (!info) return;
    if (name === "") throw new FileFailure("EBUSY", "rm", path);
    if (isDirectory(info.mode) && !options.recursive) {
      askFiles("rmdir", path, [parent, name]);
    } else {
      removeTree(parent, [name, info.ino, info.mode], path);
    }
  }

  async cp(source: string, target: string, options: { recursive?: boolean } = {}): Promise<void> {
    // With all that is in it, a link is copied as a link.
    const from = this.#lookUp(source, !options.recursive);
    if (!from) throw new FileFailure("ENOENT", "cp", source);
    if (isDirectory(from.mode) && !options.recursive) throw new FileFailure("EISDIR", "cp", source);
    if (this.#devices.stat(source) || this.#devices.stat(target)) {
      await this.writeFile(target, await this.readFileBuffer(source));
      return;
    }
    if (walk(target).info?.ino === from.ino) return;
    copyTree(from, target);
  }

  async mv(source: string, target: string): Promise<void> {
    const from = this.#own(source, "mv", false);
    const to = walk(target, false);
    askFiles("rename", target, [from.parent, from.name, to.parent, to.name]);
  }

  resolvePath(base: string, path: string): string {
    const names: string[] = [];
    for (const name of (path.startsWith("/") ? path : `${base}/${path}`).split("/")) {
      if (name === "..") names.pop();
      else if (name !== "" && name !== ".") names.push(name);
    }
    return `/${names.join("/")}`;
  }

  /** Nothing: whoever wants them all walks the tree. */
  getAllPaths(): string[] {
    return [];
  }

  async chmod(path: string, mode: number): Promise<void> {
    this.#setAttributes(path, "chmod", { mode });
  }

  async utimes(path: string, atime: Date, mtime: Date): Promise<void> {
    this.#setAttributes(path, "utimes", { atime: +atime, mtime: +mtime });
  }

  async symlink(target: string, path: string): Promise<void> {
    const { parent, name, info } = walk(path, false);
    if (info || this.#devices.stat(path)) throw new FileFailure("EEXIST", "symlink", path);
    askFiles("symlink", path, [parent, name, target]);
  }

  async link(_existing: string, path: string): Promise<void> {
    // The sandbox's files have one name each.
    throw new FileFailure("EPERM", "link", path);
  }

  async readlink(path: string): Promise<string> {
    return askFiles("readlink", path, [find(path, "readlink", false).info.ino]);
  }

  async realpath(path: string): Promise<string> {
    return this.#devices.stat(path) ? path : find(path, "realpath").path;
  }

  #read(path: string): Uint8Array {
    return this.#devices.read(path) ?? readAll(find(path, "open").info, path);
  }

  #write(path: string, content: string | Uint8Array, options: Encoding, append: boolean): void {
    if (this.#devices.write(path)) return;
    const isText = !isBinary((typeof options === "string" ? options : options?.encoding) ?? "utf8");
    const bytes = typeof content !== "string" ? content : isText ? bytesOfText(content) : bytesOfLatin1(content);
    writeAll(path, bytes, append, 0o666 & ~this.umask);
  }

  #lookUp(path: string, follow: boolean): InodeFacts | undefined {
    const own = this.#devices.stat(path);
    if (own) return own;
    try {
      return walk(path, follow).info;
    } catch (error) {
      if (error instanceof FileFailure) return undefined;
      throw error;
    }
  }

  #stat(path: string, follow: boolean): Stat {
    const { ino, mode, size, mtime } = this.#devices.stat(path) ?? find(path, follow ? "stat" : "lstat", follow).info;
    return {
      isFile: isFile(mode),
      isDirectory: isDirectory(mode),
      isSymbolicLink: isLink(mode),
      mode: mode & 0o7777,
      size,
      mtime: new Date(mtime),
      dev: 1,
      ino,
    };
  }

  /** Whether the shell shows it though the sandbox may not have it. */
  #isOverlaid(path: string): boolean {
    return this.#devices.stat(path) !== undefined;
  }

  #addOwn(path: string, modes: Map<string, number>): void {
    try {
      const { info } = find(path, "scandir");
      for (const [name, , mode] of entries(info.ino, path)) modes.set(name, mode);
    } catch (error) {
      if (!(error instanceof FileFailure) || error.code !== "ENOENT" || !this.#isOverlaid(path)) throw error;
    }
  }

  /** A file of the sandbox, not of the shell. @throws FileFailure */
  #own(path: string, operation: string, mayMiss: boolean | undefined): ReturnType<typeof walk> {
    if (this.#isOverlaid(path)) throw new FileFailure("EACCES", operation, path);
    if (!mayMiss) return find(path, operation, false);
    try {
      return walk(path, false);
    } catch (error) {
      if (!(error instanceof FileFailure) || error.code !== "ENOENT") throw error;
      return { parent: 0, name: "", info: undefined, path };
    }
  }

  #setAttributes(path: string, operation: string, changes: object): void {
    if (this.#isOverlaid(path)) throw new FileFailure("EPERM", operation, path);
    askFiles("setattr", path, [find(path, operation).info.ino, changes]);
  }
}

function isBinary(encoding: string | null): boolean {
  return encoding === "binary" || encoding === "latin1";
}
