import { exportTar, importTar } from "./archive.js";
import { toByteStream } from "./data.js";
import { unlessAborted } from "./deadline.js";
import { SandboxError } from "./errors.js";
import { checkOptions, type Data } from "./options.js";
import { resolvePath } from "./paths.js";
import type { FileChange, FileInfo, ListFilesOptions, ProviderFiles, ReadOptions, WatchOptions } from "./provider.js";
import { stoppable } from "./stoppable.js";

const defaultMaxBytes = 256 * 1024 * 1024;

/** How a file is written. */
export interface WriteFileOptions {
  /** `truncate` (default) replaces, `append` adds at the end, `exclusive` is `FILE_EXISTS` for one that is there. */
  readonly mode?: "truncate" | "append" | "exclusive" | undefined;
  /** Permission bits of a new file, such as 0o755; default 0o644. An existing file keeps its own unless given. */
  readonly permissions?: number | undefined;
  /** Writes only if the file was last changed at exactly this time; otherwise `CONFLICT`. */
  readonly ifModifiedAt?: Date | undefined;
  /** Gives the write up: it rejects with the signal's reason, and the old bytes stay (`append` may leave some). */
  readonly signal?: AbortSignal | undefined;
}

/** What part of a file is read, and how much at most. */
export interface ReadFileOptions extends ReadOptions {
  /** Refuses more than this, in bytes, with `TOO_LARGE`; default 256 MiB. */
  readonly maxBytes?: number | undefined;
}

/** What the files of a sandbox need to know of it. */
export interface FilesOwner {
  readonly provider: string;
  readonly workdir: string;
  readonly files: ProviderFiles;
  /** Throws when the sandbox has ended. */
  readonly assertAlive: (operation: string) => void;
}

/**
 * The files of a sandbox. Relative paths resolve against `workdir`; any name works. All members throw `SandboxError`
 * with `FILE_NOT_FOUND`, `NOT_DIRECTORY`, `IS_DIRECTORY`, `FILE_EXISTS`, `PERMISSION`, `NO_SPACE`, `TOO_LARGE`,
 * `INVALID` as fits.
 */
export class Files {
  readonly #owner: FilesOwner;

  /** For core alone. */
  constructor(owner: FilesOwner) {
    this.#owner = owner;
  }

  /** The exact bytes of a file. @throws SandboxError `TOO_LARGE` above `maxBytes`: use `readStream` */
  async read(path: string, options: ReadFileOptions = {}): Promise<Uint8Array> {
    checkOptions("read", options);
    const maxBytes = options.maxBytes ?? defaultMaxBytes;
    const stream = await this.#open(path, options, "files.read");
    const reader = stream.getReader();
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for (;;) {
        const { done, value } = await unlessAborted(reader.read(), options.signal);
        if (done) break;
        size += value.length;
        if (size > maxBytes) throw this.#tooLarge(path, maxBytes);
        chunks.push(value);
      }
    } finally {
      reader.cancel().catch(() => undefined);
    }
    return join(chunks, size);
  }

  /** A file as text. @throws SandboxError `NOT_TEXT` for anything but valid UTF-8 */
  async readText(path: string, options: ReadFileOptions = {}): Promise<string> {
    const bytes = await this.read(path, options);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (cause) {
      throw new SandboxError("NOT_TEXT", `${path} is not valid UTF-8: read its bytes with files.read`, {
        provider: this.#owner.provider,
        operation: "files.readText",
        cause,
      });
    }
  }

  /** A file in pieces, for what does not fit in memory. Cancel it to stop early. */
  async readStream(path: string, options: ReadOptions = {}): Promise<ReadableStream<Uint8Array>> {
    checkOptions("readStream", options);
    return this.#open(path, options, "files.readStream");
  }

  /**
   * Writes a file; parents are made. Atomic: a reader sees the old bytes or the new ones.
   * @throws SandboxError `FILE_EXISTS` with mode `exclusive`; `CONFLICT` with `ifModifiedAt`
   */
  async write(path: string, data: Data, options: WriteFileOptions = {}): Promise<void> {
    checkOptions("write", options);
    checkOptions("data", data);
    const absolute = this.#resolve(path, "files.write");
    options.signal?.throwIfAborted();
    await this.#owner.files.write(absolute, toByteStream(data), { ...options, mode: options.mode ?? "truncate" });
  }

  /** Writes many files, by path, at the same time. When one fails the others may have been written. */
  async writeAll(files: Readonly<Record<string, Data>>): Promise<void> {
    await Promise.all(Object.entries(files).map(([path, data]) => this.write(path, data)));
  }

  /** What is at a path; a link is followed unless asked otherwise. @throws SandboxError `FILE_NOT_FOUND` */
  async stat(path: string, options: { readonly followSymlinks?: boolean | undefined } = {}): Promise<FileInfo> {
    checkOptions("stat", options);
    const followSymlinks = options.followSymlinks ?? true;
    return this.#owner.files.stat(this.#resolve(path, "files.stat"), { followSymlinks });
  }

  /** False only when confirmed missing; a link that leads nowhere is there. */
  async exists(path: string): Promise<boolean> {
    try {
      await this.stat(path, { followSymlinks: false });
      return true;
    } catch (error) {
      if (error instanceof SandboxError && (error.code === "FILE_NOT_FOUND" || error.code === "NOT_DIRECTORY")) {
        return false;
      }
      throw error;
    }
  }

  /** What a directory holds; default `workdir`. With absolute paths, in the order of their code units. */
  async list(path = ".", options: ListFilesOptions = {}): Promise<FileInfo[]> {
    checkOptions("list", options);
    return this.#owner.files.list(this.#resolve(path, "files.list"), options);
  }

  /** Makes a directory and its parents; content with one that is there. */
  async mkdir(path: string): Promise<void> {
    await this.#owner.files.mkdir(this.#resolve(path, "files.mkdir"));
  }

  /** Renames; replaces a file that is there, makes the parents of `to`. */
  async move(from: string, to: string): Promise<void> {
    await this.#owner.files.move(this.#resolve(from, "files.move"), this.#resolve(to, "files.move"));
  }

  /** False when nothing was there. @throws SandboxError `IS_DIRECTORY` for a directory without `recursive` */
  async remove(path: string, options: { readonly recursive?: boolean | undefined } = {}): Promise<boolean> {
    checkOptions("remove", options);
    const absolute = this.#resolve(path, "files.remove");
    return this.#owner.files.remove(absolute, { recursive: options.recursive ?? false });
  }

  /**
   * Changes of a directory and what is in it, from the first `next()` until the iteration stops; default `workdir`.
   * @throws SandboxError `UNSUPPORTED` without `files.watch`; `TOO_LARGE` when more has changed than was taken
   */
  watch(path = ".", options: WatchOptions = {}): AsyncIterable<FileChange> {
    checkOptions("watch", options);
    const absolute = this.#resolve(path, "files.watch");
    const { files, provider } = this.#owner;
    const watch = files.watch?.bind(files);
    if (watch) return stoppable((signal) => watch(absolute, { ...options, signal }), options.signal);
    throw new SandboxError("UNSUPPORTED", `provider "${provider}" cannot watch files: list them again instead`, {
      provider,
      operation: "files.watch",
    });
  }

  /** A directory as a tar archive that any provider can import; default `workdir`. */
  async exportTar(path = "."): Promise<ReadableStream<Uint8Array>> {
    return exportTar(this.#owner.files, this.#resolve(path, "files.exportTar"));
  }

  /** Unpacks a tar archive under `path`; default `workdir`. Entries that would leave it are refused (`INVALID`). */
  async importTar(tar: ReadableStream<Uint8Array>, path = "."): Promise<void> {
    await importTar(this.#owner.files, this.#resolve(path, "files.importTar"), tar);
  }

  #resolve(path: string, operation: string): string {
    this.#owner.assertAlive(operation);
    return resolvePath(this.#owner.workdir, path, operation);
  }

  async #open(path: string, options: ReadOptions, operation: string): Promise<ReadableStream<Uint8Array>> {
    const absolute = this.#resolve(path, operation);
    options.signal?.throwIfAborted();
    const { offset, length, signal } = options;
    return this.#owner.files.read(absolute, { offset, length, signal });
  }

  #tooLarge(path: string, maxBytes: number): SandboxError {
    return new SandboxError(
      "TOO_LARGE",
      `${path} is larger than ${maxBytes} bytes: read a range, raise maxBytes, or use readStream`,
      { provider: this.#owner.provider, operation: "files.read" },
    );
  }
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = chunks;
  if (only && chunks.length === 1) return only;
  // Of its own, and not filled with zeros first: all of it is written here.
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(size).buffer);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
