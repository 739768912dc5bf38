/** The parts of Emscripten's file system and of Pyodide that the realm touches (their own names and shapes). */

export interface Attributes {
  dev: number;
  ino: number;
  mode: number;
  nlink: number;
  uid: number;
  gid: number;
  rdev: number;
  size: number;
  atime: Date;
  mtime: Date;
  ctime: Date;
  blksize: number;
  blocks: number;
}

/** What the broker tells of an inode. */
export interface InodeInfo {
  readonly ino: number;
  readonly mode: number;
  readonly size: number;
  readonly links: number;
  readonly atime: number;
  readonly mtime: number;
  readonly ctime: number;
}

export interface AttributeChanges {
  mode?: number;
  size?: number;
  atime?: number;
  mtime?: number;
}

export interface Mount {
  readonly mountpoint: string;
  readonly opts: Record<string, unknown>;
  readonly mounts: Mount[];
}

export interface Node {
  id: number;
  name: string;
  mode: number;
  parent: Node;
  mount: Mount;
  node_ops: NodeOperations;
  stream_ops: StreamOperations;
  /** The broker's inode number; absent on nodes that live in this worker alone. */
  ino?: number;
  /** What the broker told when the node was looked up; good for the call that looked it up, and taken by it. */
  told?: InodeInfo | undefined;
}

export interface Stream {
  fd: number;
  flags: number;
  position: number;
  node: Node;
  shared: { handle?: number; references?: number };
}

interface NodeOperations {
  getattr?(node: Node): Attributes;
  setattr?(node: Node, changes: AttributeChanges): void;
  lookup?(parent: Node, name: string): Node;
  mknod?(parent: Node, name: string, mode: number, device: number): Node;
  rename?(node: Node, directory: Node, name: string): void;
  unlink?(parent: Node, name: string): void;
  rmdir?(parent: Node, name: string): void;
  readdir?(node: Node): string[];
  symlink?(parent: Node, name: string, target: string): Node;
  readlink?(node: Node): string;
  statfs?(): Record<string, number>;
}

interface StreamOperations {
  open?(stream: Stream): void;
  close?(stream: Stream): void;
  dup?(stream: Stream): void;
  getattr?(stream: Stream): Attributes;
  setattr?(stream: Stream, changes: AttributeChanges): void;
  llseek?(stream: Stream, offset: number, whence: number): number;
  read?(stream: Stream, buffer: Uint8Array, offset: number, length: number, position: number): number;
  write?(stream: Stream, buffer: Uint8Array, offset: number, length: number, position: number): number;
  mmap?(stream: Stream, length: number, position: number): { ptr: number; allocated: boolean };
  msync?(stream: Stream, buffer: Uint8Array, offset: number, length: number): number;
}

interface LookupOptions {
  /** Looks up the directory that the last name is in. */
  readonly parent?: boolean;
  /** Goes through a link at the end. */
  readonly follow?: boolean;
  /** Gives a path without a node when the last name is missing. */
  readonly noent_okay?: boolean;
}

export interface Lookup {
  readonly path: string;
  readonly node?: Node;
}

/** Files in the memory of the worker itself. */
interface MemoryFiles {
  readonly ops_table: { readonly file: { readonly stream: StreamOperations } };
  resizeFileStorage(node: Node, size: number): void;
}

export interface FileSystem {
  readonly filesystems: { readonly MEMFS: MemoryFiles };
  readonly root: Node;
  readonly FSNode: new (parent: Node, name: string, mode: number, device: number) => Node;
  readonly ErrnoError: new (errno: number) => Error;
  hashAddNode(node: Node): void;
  lookupPath(path: string, options?: LookupOptions): Lookup;
  cwd(): string;
  open(path: string, flags: number | string, mode?: number): Stream;
  mkdir(path: string, mode?: number): Node;
  mkdirTree(path: string): void;
  writeFile(path: string, data: string | Uint8Array): void;
  rmdir(path: string): void;
  chdir(path: string): void;
}

interface Device {
  readonly isatty: boolean;
  write?(bytes: Uint8Array): number;
  read?(bytes: Uint8Array): number;
}

export interface Pyodide {
  readonly FS: FileSystem;
  readonly ERRNO_CODES: Readonly<Record<string, number>>;
  readonly _module: { readonly HEAPU8: Uint8Array; readonly HEAP8: Int8Array; mmapAlloc(size: number): number };
  readonly _api: { on_fatal?: (error: unknown) => void };
  runPython(code: string): unknown;
  pyimport(name: string): { run(...ways: ((...args: never[]) => unknown)[]): void };
  makeMemorySnapshot(): Uint8Array;
  setInterruptBuffer(buffer: { 0: number }): void;
  setStdin(device: Device): void;
  setStdout(device: Device): void;
  setStderr(device: Device): void;
}
