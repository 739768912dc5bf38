import type {
  AttributeChanges,
  Attributes,
  FileSystem,
  InodeInfo,
  Mount,
  Node,
  Pyodide,
  Stream,
} from "./emscripten.js";
import { keepOutOfNameCache, refineOpen, walkAtOnce } from "./emscripten-patches.js";
import { errno } from "./errno.js";
import type { HostApi } from "./host-api.js";

/** Largest piece that one call carries; the link's data area is of this size. */
const chunkSize = 256 * 1024;
const appendFlag = 0o2000;

/**
 * Makes the broker's tree the root of Emscripten's file system. Nodes carry an inode number and no state: each lookup
 * asks the broker, because other workers and the host change the same files. Only `/lib`, `/dev` and `/proc` stay
 * with the worker.
 */
export function createBrokerFiles(python: Pyodide, host: HostApi): void {
  const { FS } = python;
  const root = FS.root;
  // Of a mount of its own, so that renames between it and the worker's own directories are EXDEV.
  const mount: Mount = { mountpoint: "/", opts: {}, mounts: [] };
  const call = caller(python, host);

  const attributes = (info: InodeInfo): Attributes => ({
    dev: 1,
    ino: info.ino,
    mode: info.mode,
    nlink: info.links,
    uid: 0,
    gid: 0,
    rdev: 0,
    size: info.size,
    atime: new Date(info.atime),
    mtime: new Date(info.mtime),
    ctime: new Date(info.ctime),
    blksize: 4096,
    blocks: Math.ceil(info.size / 512),
  });

  const inode = (node: Node): number => {
    if (node.ino === undefined) throw new FS.ErrnoError(errno(python, "EXDEV"));
    return node.ino;
  };

  const nodeOf = (parent: Node, name: string, info: { ino: number; mode: number }): Node => {
    const node = new FS.FSNode(parent, name, info.mode, 0);
    return Object.assign(node, { ino: info.ino, mount, node_ops: nodeOperations, stream_ops: streamOperations });
  };

  const nodeOperations = {
    getattr(node: Node) {
      const told = node.told ?? call<InodeInfo>("getattr", [inode(node)]);
      node.told = undefined;
      return attributes(told);
    },
    setattr(node: Node, changes: AttributeChanges) {
      node.told = undefined;
      node.mode = call<InodeInfo>("setattr", [inode(node), changesOf(changes)]).mode;
    },
    lookup: (parent: Node, name: string) => nodeOf(parent, name, call("lookup", [inode(parent), name])),
    mknod: (parent: Node, name: string, mode: number) =>
      nodeOf(parent, name, call("mknod", [inode(parent), name, mode])),
    symlink: (parent: Node, name: string, target: string) =>
      nodeOf(parent, name, call("symlink", [inode(parent), name, target])),
    readlink: (node: Node): string => call("readlink", [inode(node)]),
    rename(node: Node, directory: Node, name: string) {
      call("rename", [inode(node.parent), node.name, inode(directory), name]);
      node.name = name;
    },
    unlink: (parent: Node, name: string) => call<void>("unlink", [inode(parent), name]),
    rmdir: (parent: Node, name: string) => call<void>("rmdir", [inode(parent), name]),
    readdir(node: Node): string[] {
      const entries = call<[name: string, ino: number, mode: number][]>("readdir", [inode(node)]);
      const local = node === root ? ["dev", "lib", "proc"] : [];
      const names = [".", "..", ...local, ...entries.map(([name]) => name)];
      // The patched getdents takes types from here instead of looking up every name (see python-sources.ts).
      return Object.assign(names, { types: new Map(entries.map(([name, ino, mode]) => [name, { id: ino, mode }])) });
    },
    statfs: () => call<Record<string, number>>("statfs", []),
  };

  const handle = (stream: Stream): number => stream.shared.handle ?? -1;

  const streamOperations = {
    open(stream: Stream) {
      stream.shared.handle = call("open", [inode(stream.node)]);
      stream.shared.references = 1;
    },
    dup(stream: Stream) {
      stream.shared.references = (stream.shared.references ?? 0) + 1;
    },
    close(stream: Stream) {
      stream.shared.references = (stream.shared.references ?? 1) - 1;
      if (stream.shared.references === 0) call("close", [handle(stream)]);
    },
    getattr: (stream: Stream) => attributes(call("fstat", [handle(stream)])),
    setattr: (stream: Stream, changes: AttributeChanges) => {
      call("fsetattr", [handle(stream), changesOf(changes)]);
    },
    llseek(stream: Stream, offset: number, whence: number): number {
      const base = whence === 1 ? stream.position : whence === 2 ? call<InodeInfo>("fstat", [handle(stream)]).size : 0;
      if (base + offset < 0) throw new FS.ErrnoError(errno(python, "EINVAL"));
      return base + offset;
    },
    read(stream: Stream, buffer: Uint8Array, offset: number, length: number, position: number): number {
      let done = 0;
      while (done < length) {
        const wanted = Math.min(chunkSize, length - done);
        const piece = bytes(buffer, offset + done, wanted);
        const count = call<number>("read", [handle(stream), position + done, wanted], piece, false);
        done += count;
        if (count < wanted) break;
      }
      return done;
    },
    write(stream: Stream, buffer: Uint8Array, offset: number, length: number, position: number): number {
      let done = 0;
      while (done < length) {
        const piece = bytes(buffer, offset + done, Math.min(chunkSize, length - done));
        // The broker finds the end itself, so that appends of several workers never overwrite one another.
        const at = stream.flags & appendFlag ? -1 : position + done;
        done += call<number>("write", [handle(stream), at], piece, true);
      }
      return done;
    },
    mmap(stream: Stream, length: number, position: number) {
      const ptr = python._module.mmapAlloc(length);
      if (!ptr) throw new FS.ErrnoError(errno(python, "ENOMEM"));
      streamOperations.read(stream, python._module.HEAPU8, ptr, length, position);
      return { ptr, allocated: true };
    },
    msync(stream: Stream, buffer: Uint8Array, offset: number, length: number): number {
      streamOperations.write(stream, buffer, 0, length, offset);
      return 0;
    },
  };

  refuseGrowth(python);
  for (const path of ["/tmp", "/home/user", "/home/web_user", "/home"]) removeLocal(FS, path);
  Object.assign(root, { ino: 1, mount, node_ops: nodeOperations });
  keepOutOfNameCache(FS);
  walkAtOnce(
    FS,
    (path, follow) => {
      const { chain, info, missing } = call<Walk>("walk", [path, follow]);
      const names = chain.map(([name]) => name);
      if (missing !== undefined) return { path: `/${[...names, missing].join("/")}` };
      let node = root;
      for (const [name, ino, mode] of chain) node = nodeOf(node, name, { ino, mode });
      return { path: `/${names.join("/")}`, node: Object.assign(node, { told: info }) };
    },
    python,
  );
  refineOpen(FS, python);
}

/** A path followed by the broker: every step from the root, and what is at the end. */
interface Walk {
  readonly chain: readonly (readonly [name: string, ino: number, mode: number])[];
  readonly info?: InodeInfo;
  readonly missing?: string;
}

type Call = <Result>(operation: string, args: unknown[], data?: Uint8Array | null, send?: boolean) => Result;

/** A broker call that throws Emscripten's error for an errno name. */
function caller(python: Pyodide, host: HostApi): Call {
  return (operation, args, data = null, send = false) => {
    const reply = JSON.parse(host.call(`fs.${operation}`, JSON.stringify(args), data, send)) as
      | { error: string }
      | { result: never };
    if ("error" in reply) throw new python.FS.ErrnoError(errno(python, reply.error));
    return reply.result;
  };
}

/** Emscripten hands over a view of the heap as signed or unsigned bytes. */
function bytes(buffer: Uint8Array, offset: number, length: number): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset + offset, length);
}

function changesOf({ mode, size, atime, mtime }: AttributeChanges): AttributeChanges {
  return {
    ...(mode != null && { mode }),
    ...(size != null && { size }),
    ...(atime != null && { atime: +atime }),
    ...(mtime != null && { mtime: +mtime }),
  };
}

/** What a guest wrote below `/lib`, `/dev` or `/proc` would be in nobody's count: there is no room. */
function refuseGrowth(python: Pyodide): void {
  const { MEMFS } = python.FS.filesystems;
  const refuse = () => {
    throw new python.FS.ErrnoError(errno(python, "ENOSPC"));
  };
  MEMFS.ops_table.file.stream.write = refuse;
  MEMFS.resizeFileStorage = refuse;
}

function removeLocal(FS: FileSystem, path: string): void {
  try {
    FS.rmdir(path);
  } catch (error) {
    if (!(error instanceof FS.ErrnoError)) throw error;
  }
}
