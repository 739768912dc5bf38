import { randomUUID } from "node:crypto";
import { chown, lstat, mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { CommandError } from "../command-error.js";

const byteOrderMark = "\uFEFF";

/** A file of somebody else's, read as text: what is written back has the mark, the mode and the owner that it had. */
export interface ConfigFile {
  /** As it is named; a link stays a link. */
  readonly path: string;
  /** Without a byte order mark. Undefined: there is no such file. */
  readonly text: string | undefined;
  readonly write: (text: string) => Promise<void>;
}

/** @throws CommandError when it is there and cannot be read, or may not be written */
export async function openConfigFile(path: string): Promise<ConfigFile> {
  const target = await targetOf(path);
  const raw = target === undefined ? undefined : await read(path, target);
  const mark = raw?.startsWith(byteOrderMark) ? byteOrderMark : "";
  return {
    path,
    text: raw?.slice(mark.length),
    write: async (text) => {
      try {
        if (target === undefined || raw === undefined) await create(path, text);
        else await replace(path, target, raw, mark + text);
      } catch (error) {
        throw error instanceof CommandError ? error : cannot("written", path, error);
      }
    },
  };
}

/** Where a link leads to; undefined when nothing is there. */
async function targetOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw cannot("read", path, error);
    const isLink = await lstat(path).then(
      () => true,
      (reason: unknown) => {
        if (isCode(reason, "ENOENT")) return false;
        throw cannot("read", path, reason);
      },
    );
    if (!isLink) return undefined;
    throw new CommandError("FILE_NOT_FOUND", 3, `${path} is a link that leads nowhere`, [
      { text: "make the file that it leads to, or remove the link" },
    ]);
  }
}

async function read(path: string, target: string): Promise<string> {
  const bytes = await readFile(target).catch((error: unknown) => {
    throw cannot("read", path, error);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new CommandError("NOT_TEXT", 3, `${path} is not UTF-8`, [{ text: "save it as UTF-8" }], error);
  }
}

/** For one user alone: entries may hold keys. */
async function create(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Readers see the old file or the new one, whenever they look. */
async function replace(path: string, target: string, before: string, text: string): Promise<void> {
  const { mode, uid, gid } = await stat(target);
  // A rename would replace it all the same; who made it read-only meant it.
  if ((mode & 0o222) === 0) {
    throw new CommandError("PERMISSION", 3, `${path} is read-only`, [
      { text: "make it writable" },
      { text: "add the entry by hand: --print shows it" },
    ]);
  }
  const beside = `${target}.${randomUUID()}.tmp`;
  const handle = await open(beside, "wx", 0o600);
  try {
    try {
      await handle.writeFile(text);
      await handle.chmod(mode & 0o7777);
      await handle.sync();
    } finally {
      await handle.close();
    }
    const own = await stat(beside);
    if (own.uid !== uid || own.gid !== gid) await chown(beside, uid, gid);
    if ((await readFile(target, "utf8")) !== before) {
      throw new CommandError("CONFLICT", 4, `${path} was changed by somebody else just now`, [
        { text: "try the same command again" },
      ]);
    }
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

function cannot(done: "read" | "written", path: string, error: unknown): CommandError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const reason = { EACCES: "permission denied", EPERM: "permission denied", EISDIR: "it is a directory" }[code] ?? code;
  const print = { text: "add the entry by hand: --print shows it" };
  return new CommandError(
    "PERMISSION",
    3,
    `${path} cannot be ${done}: ${reason || String(error)}`,
    [{ text: "make it a file that this user may read and write" }, print],
    error,
  );
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
