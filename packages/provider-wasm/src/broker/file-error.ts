/** Names of the failures of the file system, as POSIX calls them. */
export type Errno =
  | "ENOENT"
  | "EEXIST"
  | "ENOTDIR"
  | "EISDIR"
  | "ENOTEMPTY"
  | "EINVAL"
  | "ENOSPC"
  | "ELOOP"
  | "ENAMETOOLONG"
  | "EBADF"
  | "EACCES"
  | "EBUSY"
  | "EFBIG"
  | "EXDEV"
  | "E2BIG"
  | "EOVERFLOW"
  | "EAGAIN"
  | "EBADMSG"
  | "ESTALE";

/** A failure of the broker's file system. `ESTALE` stands for a file that changed against `ifModifiedAt`. */
export class FileError extends Error {
  readonly errno: Errno;

  constructor(errno: Errno, path: string) {
    super(`${errno}: ${path}`);
    this.errno = errno;
  }
}
