/** Bits of a mode that tell what is there. */
export const typeBits = { mask: 0o170000, file: 0o100000, directory: 0o040000, link: 0o120000 } as const;
/** Permissions that new files do not get. */
export const umask = 0o022;

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
  S_IFMT: typeBits.mask,
  S_IFREG: typeBits.file,
  S_IFDIR: typeBits.directory,
  S_IFLNK: typeBits.link,
};

/** What a mode tells of. */
export function typeOf(mode: number): "file" | "directory" | "link" {
  const bits = mode & typeBits.mask;
  return bits === typeBits.directory ? "directory" : bits === typeBits.link ? "link" : "file";
}
