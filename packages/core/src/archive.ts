import { posix } from "node:path";
import type { ParsedTarEntry, TarHeader } from "modern-tar";
import { messageOf, SandboxError } from "./errors.js";
import type { FileInfo, ProviderFiles } from "./provider.js";

/** Few programs pack anything: the library is loaded by those. */
const library = () => import("modern-tar");

/** Packs a directory; names in the archive are relative to it. Devices and sockets have no form in it: `INVALID`. */
export async function exportTar(files: ProviderFiles, directory: string): Promise<ReadableStream<Uint8Array>> {
  const entries = await files.list(directory, { recursive: true });
  const { readable, controller } = (await library()).createTarPacker();
  const pack = async () => {
    for (const entry of entries) await packEntry(files, controller.add, directory, entry);
    controller.finalize();
  };
  pack().catch((error) => controller.error(error));
  return readable;
}

async function packEntry(
  files: ProviderFiles,
  add: (header: TarHeader) => WritableStream<Uint8Array>,
  directory: string,
  entry: FileInfo,
): Promise<void> {
  const name = posix.relative(directory, entry.path);
  const { mode, modifiedAt: mtime } = entry;
  switch (entry.type) {
    case "file":
      await (await files.read(entry.path, { length: entry.size })).pipeTo(
        add({ name, mode, mtime, type: "file", size: entry.size }),
      );
      return;
    case "directory":
      await add({ name: `${name}/`, mode, mtime, type: "directory", size: 0 }).close();
      return;
    case "symlink":
      await add({ name, mode, mtime, type: "symlink", linkname: entry.symlinkTarget ?? "", size: 0 }).close();
      return;
    case "other":
      throw new SandboxError(
        "INVALID",
        `${entry.path} is neither file, directory nor link: remove it before exporting`,
        {
          operation: "files.exportTar",
        },
      );
  }
}

/**
 * Unpacks an archive under a directory. Nothing is written outside it: names that climb out, absolute names, and names
 * that lead through a link are refused. Links are made last, so that no entry is written through one.
 */
export async function importTar(
  files: ProviderFiles,
  directory: string,
  tar: ReadableStream<Uint8Array>,
): Promise<void> {
  await files.mkdir(directory);
  const links: { readonly path: string; readonly target: string }[] = [];
  const safe = new Set([directory]);
  for await (const entry of decode(tar)) {
    const path = entryPath(directory, entry.header.name);
    await refuseLinks(files, directory, entry.header.type === "directory" ? path : posix.dirname(path), safe);
    if (entry.header.type === "symlink") links.push({ path, target: entry.header.linkname ?? "" });
    await unpackEntry(files, path, entry);
  }
  for (const { path, target } of links) await makeLink(files, path, target);
}

async function* decode(tar: ReadableStream<Uint8Array>): AsyncGenerator<ParsedTarEntry> {
  const { createTarDecoder } = await library();
  try {
    for await (const entry of tar.pipeThrough(createTarDecoder({ strict: true }))) yield entry;
  } catch (cause) {
    if (cause instanceof SandboxError) throw cause;
    throw new SandboxError("INVALID", `not a readable tar archive: ${messageOf(cause)}`, {
      operation: "files.importTar",
      cause,
    });
  }
}

async function unpackEntry(files: ProviderFiles, path: string, entry: ParsedTarEntry): Promise<void> {
  switch (entry.header.type ?? "file") {
    case "file":
      await dropLink(files, path);
      await files.write(path, entry.body, { mode: "truncate", permissions: entry.header.mode });
      return;
    case "directory":
      await files.mkdir(path);
      break;
    case "symlink":
      break;
    default:
      throw refused(entry.header.name, `entries of type "${entry.header.type}" are not unpacked`);
  }
  await entry.body.cancel();
}

function entryPath(directory: string, name: string): string {
  if (name.startsWith("/") || name.includes("\0")) throw refused(name, "its name is absolute or has NUL");
  const path = posix.resolve(directory, name);
  const below = directory === "/" ? "/" : `${directory}/`;
  if (path !== directory && !path.startsWith(below)) throw refused(name, `it would leave ${directory}`);
  return path;
}

/** Every directory between the root of the import and the entry must be one, not a link to one. */
async function refuseLinks(files: ProviderFiles, root: string, directory: string, safe: Set<string>): Promise<void> {
  if (safe.has(directory)) return;
  await refuseLinks(files, root, posix.dirname(directory), safe);
  try {
    const { type } = await files.stat(directory, { followSymlinks: false });
    if (type === "symlink") throw refused(directory, "it leads through a link");
  } catch (error) {
    if (!(error instanceof SandboxError && error.code === "FILE_NOT_FOUND")) throw error;
  }
  safe.add(directory);
}

/** An entry replaces a link of its name; it is never written to where that leads. */
async function dropLink(files: ProviderFiles, path: string): Promise<void> {
  try {
    const { type } = await files.stat(path, { followSymlinks: false });
    if (type === "symlink") await files.remove(path, { recursive: false });
  } catch (error) {
    if (!(error instanceof SandboxError && error.code === "FILE_NOT_FOUND")) throw error;
  }
}

async function makeLink(files: ProviderFiles, path: string, target: string): Promise<void> {
  if (!files.symlink) throw refused(path, "the provider cannot make symbolic links");
  await files.remove(path, { recursive: false });
  await files.symlink(target, path);
}

function refused(name: string, why: string): SandboxError {
  return new SandboxError("INVALID", `archive entry ${JSON.stringify(name)} is refused: ${why}`, {
    operation: "files.importTar",
  });
}
