import { bufferOf, host, longestPiece } from "./host.js";

/** What the broker tells of an inode. */
export interface Info {
  readonly ino: number;
  readonly mode: number;
  readonly size: number;
  readonly links: number;
  readonly atime: number;
  readonly mtime: number;
  readonly ctime: number;
}

/** Where a path leads: its directory and name, and what is there. */
export interface Place {
  readonly parent: number;
  readonly name: string;
  readonly path: string;
  readonly info: Info | undefined;
}

/** Texts and numbers of Linux for the failures that the broker tells. */
const failures: Readonly<Record<string, readonly [errno: number, text: string]>> = {
  EPERM: [1, "operation not permitted"],
  ENOENT: [2, "no such file or directory"],
  EIO: [5, "i/o error"],
  E2BIG: [7, "argument list too long"],
  EBADF: [9, "bad file descriptor"],
  EAGAIN: [11, "resource temporarily unavailable"],
  EACCES: [13, "permission denied"],
  EBUSY: [16, "resource busy or locked"],
  EEXIST: [17, "file already exists"],
  EXDEV: [18, "cross-device link not permitted"],
  ENOTDIR: [20, "not a directory"],
  EISDIR: [21, "illegal operation on a directory"],
  EINVAL: [22, "invalid argument"],
  EFBIG: [27, "file too large"],
  ENOSPC: [28, "no space left on device"],
  ENAMETOOLONG: [36, "name too long"],
  ENOTEMPTY: [39, "directory not empty"],
  ELOOP: [40, "too many symbolic links encountered"],
  ENETUNREACH: [101, "network is unreachable"],
};

const rootInode = 1;
const { parse, stringify } = JSON;

/** The error that Node throws for a failure of the file system. */
export function fileError(code: string, syscall: string, path?: string, target?: string): Error {
  const [errno, text] = failures[code] ?? [5, "i/o error"];
  const quoted = path === undefined ? "" : ` '${path}'`;
  const to = target === undefined ? "" : ` -> '${target}'`;
  const error = new Error(`${code}: ${text}, ${syscall}${quoted}${to}`);
  return Object.assign(error, {
    errno: -errno,
    code,
    syscall,
    ...(path !== undefined && { path }),
    ...(target !== undefined && { dest: target }),
  });
}

/** What a call is about, for its error. */
export interface Subject {
  readonly syscall: string;
  readonly path?: string | undefined;
  readonly target?: string | undefined;
}

type Reply<Result> = { readonly error: string } | { readonly result: Result };

function resultOf<Result>(json: string, { syscall, path, target }: Subject): Result {
  const reply = parse(json) as Reply<Result>;
  if ("result" in reply) return reply.result;
  // The interpreter of Python keeps some directories to itself; here they are not there.
  throw fileError(reply.error === "EXDEV" && syscall !== "rename" ? "ENOENT" : reply.error, syscall, path, target);
}

/** One operation of the broker on files. @throws Error as Node's `fs` does */
export function file<Result>(operation: string, args: readonly unknown[], subject: Subject): Result {
  return resultOf<Result>(host().call(`fs.${operation}`, stringify(args)), subject);
}

/** Follows a path. @throws Error where a directory on it is missing */
export function find(path: string, follow: boolean, syscall: string): Place {
  const { chain, info, missing } = file<{
    chain: readonly (readonly [name: string, ino: number, mode: number])[];
    info?: Info;
    missing?: string;
  }>("walk", [path, follow], { syscall, path });
  const names = chain.map(([name]) => name);
  if (info) {
    return { parent: chain.at(-2)?.[1] ?? rootInode, name: names.at(-1) ?? "", path: `/${names.join("/")}`, info };
  }
  const name = missing ?? "";
  return { parent: chain.at(-1)?.[1] ?? rootInode, name, path: `/${[...names, name].join("/")}`, info: undefined };
}

/** What is at a path. @throws Error `ENOENT` */
export function existing(path: string, follow: boolean, syscall: string): Place & { readonly info: Info } {
  const place = find(path, follow, syscall);
  if (!place.info) throw fileError("ENOENT", syscall, path);
  return { ...place, info: place.info };
}

/** Fills `target` from a place in an open file; how many bytes there were. */
export function readAt(handle: number, position: number, target: Uint8Array): number {
  let done = 0;
  while (done < target.length) {
    const wanted = Math.min(longestPiece, target.length - done);
    const bytes = host().receive("fs.read", stringify([handle, position + done, wanted]), wanted);
    if (typeof bytes === "string") return resultOf(bytes, { syscall: "read" });
    target.set(new Uint8Array(bytes), done);
    done += bytes.byteLength;
    if (bytes.byteLength < wanted) break;
  }
  return done;
}

/** Puts bytes at a place in an open file, or at its end. */
export function writeAt(handle: number, position: number | "end", bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; done += longestPiece) {
    const piece = bufferOf(bytes, done, longestPiece);
    const at = position === "end" ? -1 : position + done;
    resultOf(host().send("fs.write", stringify([handle, at]), piece, piece.byteLength), { syscall: "write" });
  }
}

/** The next bytes of standard input, at most so many; none at its end, undefined before a signal. */
export function readInput(length: number): Uint8Array | undefined {
  const most = Math.min(length, longestPiece);
  const bytes = host().receive("stdin", stringify([most]), most);
  return typeof bytes === "string" ? undefined : new Uint8Array(bytes);
}
