import type { Data } from "./options.js";
import type { FileInfo, ListFilesOptions, ReadOptions } from "./provider.js";

/** How a file is written. */
export interface WriteFileOptions {
  /** Default `truncate`. */
  readonly mode?: "truncate" | "append" | "exclusive" | undefined;
  readonly permissions?: number | undefined;
  readonly ifModifiedAt?: Date | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The files of a sandbox. Relative paths resolve against `workdir`. */
export interface Files {
  /** @throws SandboxError `TOO_LARGE` above `maxBytes` */
  read(path: string, options?: ReadOptions & { readonly maxBytes?: number | undefined }): Promise<Uint8Array>;
  /** @throws SandboxError `NOT_TEXT` for anything but valid UTF-8 */
  readText(path: string, options?: ReadOptions & { readonly maxBytes?: number | undefined }): Promise<string>;
  readStream(path: string, options?: ReadOptions): Promise<ReadableStream<Uint8Array>>;
  /** Makes parents; atomic. */
  write(path: string, data: Data, options?: WriteFileOptions): Promise<void>;
  writeAll(files: Readonly<Record<string, Data>>): Promise<void>;
  /** @throws SandboxError `FILE_NOT_FOUND` */
  stat(path: string, options?: { readonly followSymlinks?: boolean | undefined }): Promise<FileInfo>;
  /** False only when confirmed missing. */
  exists(path: string): Promise<boolean>;
  list(path?: string, options?: ListFilesOptions): Promise<FileInfo[]>;
  mkdir(path: string): Promise<void>;
  move(from: string, to: string): Promise<void>;
  /** False when nothing was there. */
  remove(path: string, options?: { readonly recursive?: boolean | undefined }): Promise<boolean>;
  /** A tar archive of a directory, portable between providers. */
  exportTar(path?: string): Promise<ReadableStream<Uint8Array>>;
  /** Unpacks under `path`; entries that would leave it are refused. */
  importTar(tar: ReadableStream<Uint8Array>, path?: string): Promise<void>;
}
