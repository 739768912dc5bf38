import { lstat, open, readlink, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { SandboxError } from "@sandkit/core";
import { collect, type Mutant, mapPieces, withFiles } from "./mutant.js";

const isCode = (error: unknown, code: SandboxError["code"]) => error instanceof SandboxError && error.code === code;

/** Files that are read, written, listed, moved or removed otherwise than asked. */
export const fileMutants: readonly Mutant[] = [
  {
    id: "read-64-kib",
    description: "a read ends after 64 KiB",
    caughtBy: ["files.size.120-kb", "concurrency.files.20"],
    mutate: (provider) =>
      withFiles(provider, ({ read }) => ({
        read: (path, options) => read(path, { ...options, length: Math.min(options?.length ?? Infinity, 65_536) }),
      })),
  },
  {
    id: "read-as-text",
    description: "a read goes through a string, so bytes that are no UTF-8 are replaced",
    caughtBy: ["files.bytes"],
    mutate: (provider) =>
      withFiles(provider, ({ read }) => ({
        read: async (path, options) => {
          const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await collect(await read(path, options)));
          return new Blob([text]).stream();
        },
      })),
  },
  {
    id: "read-offset-ignored",
    description: "a range begins at the start of the file",
    caughtBy: ["files.range", "files.stream.range"],
    mutate: (provider) =>
      withFiles(provider, ({ read }) => ({ read: (path, { offset: _, ...rest } = {}) => read(path, rest) })),
  },
  {
    id: "read-length-ignored",
    description: "a range goes on to the end of the file",
    caughtBy: ["files.range"],
    mutate: (provider) =>
      withFiles(provider, ({ read }) => ({ read: (path, { length: _, ...rest } = {}) => read(path, rest) })),
  },
  {
    id: "write-appends",
    description: "a write adds to what is there",
    caughtBy: ["files.overwrite"],
    mutate: (provider) =>
      withFiles(provider, ({ write }) => ({
        write: (path, data, options) =>
          write(path, data, { ...options, mode: options.mode === "truncate" ? "append" : options.mode }),
      })),
  },
  {
    id: "write-never-appends",
    description: "append replaces what is there",
    caughtBy: ["files.append"],
    mutate: (provider) =>
      withFiles(provider, ({ write }) => ({
        write: (path, data, options) =>
          write(path, data, { ...options, mode: options.mode === "append" ? "truncate" : options.mode }),
      })),
  },
  {
    id: "write-in-place",
    description: "a write empties the file and then fills it",
    caughtBy: ["files.atomic.failed-write", "files.atomic.reader"],
    mutate: (provider) =>
      withFiles(provider, ({ write }) => ({
        async write(path, data, options) {
          const there = await lstat(path).then(
            (found) => found.isFile(),
            () => false,
          );
          if (!there || options.mode !== "truncate") return write(path, data, options);
          const file = await open(path, "w");
          try {
            for await (const piece of data) {
              for (let at = 0; at < piece.length; at += 16_384) await file.write(piece.subarray(at, at + 16_384));
            }
          } finally {
            await file.close();
          }
        },
      })),
  },
  {
    id: "write-exclusive-ignored",
    description: "exclusive overwrites what is there",
    caughtBy: ["files.exclusive", "concurrency.files.exclusive"],
    mutate: (provider) =>
      withFiles(provider, ({ write }) => ({
        write: (path, data, options) =>
          write(path, data, { ...options, mode: options.mode === "exclusive" ? "truncate" : options.mode }),
      })),
  },
  {
    id: "write-version-ignored",
    description: "ifModifiedAt is not looked at",
    caughtBy: ["files.if-modified-at"],
    mutate: (provider) =>
      withFiles(provider, ({ write }) => ({
        write: (path, data, { ifModifiedAt: _, ...options }) => write(path, data, options),
      })),
  },
  {
    id: "write-permissions-ignored",
    description: "permissions are not set",
    caughtBy: ["files.permissions", "files.permissions.executable"],
    mutate: (provider) =>
      withFiles(provider, ({ write }) => ({
        write: (path, data, { permissions: _, ...options }) => write(path, data, options),
      })),
  },
  {
    id: "write-permissions-reset",
    description: "a file written again gets the permissions of a new one",
    caughtBy: ["files.permissions"],
    mutate: (provider) =>
      withFiles(provider, ({ write }) => ({
        write: (path, data, options) => write(path, data, { permissions: 0o644, ...options }),
      })),
  },
  {
    id: "write-replaces-links",
    description: "a write puts a file in the place of a link",
    caughtBy: ["files.symlink.write-through"],
    mutate: (provider) =>
      withFiles(provider, ({ write }) => ({
        async write(path, data, options) {
          const beside = `${dirname(path)}/beside`;
          if (options.mode !== "truncate" || !(await readlink(path).catch(() => null)))
            return write(path, data, options);
          await writeFile(beside, await collect(data));
          await rename(beside, path);
        },
      })),
  },
  {
    id: "write-needs-parents",
    description: "missing directories on the way to a file are not made",
    caughtBy: ["files.parents", "concurrency.files.one-directory"],
    mutate: (provider) =>
      withFiles(provider, ({ write, stat }) => ({
        async write(path, data, options) {
          await stat(dirname(path), { followSymlinks: true });
          await write(path, data, options);
        },
      })),
  },
  {
    id: "name-sanitised",
    description: "characters that look dangerous are replaced in the names of files",
    caughtBy: ["files.name.quotes", "files.name.substitution", "files.name.newline", "files.name.unicode"],
    mutate: (provider) =>
      withFiles(provider, ({ write, read, stat }) => {
        const clean = (path: string) => path.replace(/[^\w/.-]/g, "_");
        return {
          write: (path, data, options) => write(clean(path), data, options),
          read: (path, options) => read(clean(path), options),
          stat: (path, options) => stat(clean(path), options),
        };
      }),
  },
  {
    id: "name-latin-1",
    description: "names of files are sent as Latin-1",
    caughtBy: ["files.name.unicode", "files.name.combining"],
    mutate: (provider) =>
      withFiles(provider, ({ write }) => ({
        write: (path, data, options) => write(Buffer.from(path, "latin1").toString("latin1"), data, options),
      })),
  },
  {
    id: "stat-made-up",
    description: "what is missing has a record all the same",
    caughtBy: ["files.missing"],
    mutate: (provider) =>
      withFiles(provider, ({ stat }) => ({
        async stat(path, options) {
          try {
            return await stat(path, options);
          } catch (error) {
            if (!isCode(error, "FILE_NOT_FOUND")) throw error;
            return { path, type: "file", size: 0, mode: 0o644, modifiedAt: new Date() };
          }
        },
      })),
  },
  {
    id: "stat-never-follows",
    description: "stat tells of the link where it was asked for what it leads to",
    caughtBy: ["files.symlink.stat"],
    mutate: (provider) =>
      withFiles(provider, ({ stat }) => ({ stat: (path) => stat(path, { followSymlinks: false }) })),
  },
  {
    id: "stat-always-follows",
    description: "stat tells of what a link leads to where it was asked for the link",
    caughtBy: ["files.symlink.stat"],
    mutate: (provider) => withFiles(provider, ({ stat }) => ({ stat: (path) => stat(path, { followSymlinks: true }) })),
  },
  {
    id: "list-empty-on-error",
    description: "the listing of what cannot be listed is empty",
    caughtBy: ["files.list.errors"],
    mutate: (provider) => withFiles(provider, ({ list }) => ({ list: (...args) => list(...args).catch(() => []) })),
  },
  {
    id: "list-all-files",
    description: "a listing calls everything a file, changed just now",
    caughtBy: ["files.list", "files.symlink.list"],
    mutate: (provider) =>
      withFiles(provider, ({ list }) => ({
        async list(...args) {
          const entries = await list(...args);
          return entries.map((entry) => ({ ...entry, type: "file", modifiedAt: new Date() }));
        },
      })),
  },
  {
    id: "list-unordered",
    description: "a listing has the order of the disk",
    caughtBy: ["files.list"],
    mutate: (provider) =>
      withFiles(provider, ({ list }) => ({ list: async (...args) => (await list(...args)).reverse() })),
  },
  {
    id: "list-depth-ignored",
    description: "a recursive listing goes all the way down",
    caughtBy: ["files.list.recursive"],
    mutate: (provider) =>
      withFiles(provider, ({ list }) => ({ list: (path, { maxDepth: _, ...options } = {}) => list(path, options) })),
  },
  {
    id: "list-limited",
    description: "a listing has at most 100 entries",
    caughtBy: ["files.list.many"],
    mutate: (provider) =>
      withFiles(provider, ({ list }) => ({ list: (path, options) => list(path, { limit: 100, ...options }) })),
  },
  {
    id: "remove-always-true",
    description: "remove says that something was there",
    caughtBy: ["files.remove"],
    mutate: (provider) =>
      withFiles(provider, ({ remove }) => ({ remove: async (...args) => (await remove(...args)) || true })),
  },
  {
    id: "remove-always-recursive",
    description: "remove takes a directory with all in it though not asked to",
    caughtBy: ["files.remove.directory"],
    mutate: (provider) =>
      withFiles(provider, ({ remove }) => ({ remove: (path) => remove(path, { recursive: true }) })),
  },
  {
    id: "remove-follows-links",
    description: "removing a link removes what it leads to",
    caughtBy: ["files.symlink.remove"],
    mutate: (provider) =>
      withFiles(provider, ({ remove }) => ({
        async remove(path, options) {
          const target = await readlink(path).catch(() => null);
          if (target) await remove(target.startsWith("/") ? target : `${dirname(path)}/${target}`, { recursive: true });
          return remove(path, options);
        },
      })),
  },
  {
    id: "move-copies",
    description: "what was moved is still there",
    caughtBy: ["files.move"],
    mutate: (provider) =>
      withFiles(provider, ({ move, read, write, stat }) => ({
        async move(from, to) {
          const { type } = await stat(from, { followSymlinks: false });
          if (type === "file") await write(to, await read(from), { mode: "truncate" });
          else await move(from, to);
        },
      })),
  },
  {
    id: "errors-all-not-found",
    description: "whatever goes wrong is called FILE_NOT_FOUND",
    caughtBy: ["files.directory-for-file", "files.file-for-directory"],
    mutate: (provider) =>
      withFiles(provider, ({ read }) => ({
        read: (path, options) =>
          read(path, options).catch((error) => {
            throw new SandboxError("FILE_NOT_FOUND", `${path}: ${error.message}`);
          }),
      })),
  },
  {
    id: "files-in-command-lines",
    description: "content above 100 KB fails, as it does on a command line",
    caughtBy: ["files.size.120-kb", "files.size.16-mb"],
    mutate: (provider) =>
      withFiles(provider, ({ write }) => ({
        write(path, data, options) {
          let total = 0;
          const counted = mapPieces(data, (piece) => {
            total += piece.length;
            if (total > 100_000) throw new SandboxError("INVALID", "argument list too long");
            return piece;
          });
          return write(path, counted, options);
        },
      })),
  },
];
