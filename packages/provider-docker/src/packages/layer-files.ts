import { SandboxError } from "@sandkit/core";
import { createTarDecoder, type ParsedTarEntry, type TarHeader } from "modern-tar";
import type { AddEntry } from "../add-tar-file.js";
import { providerName } from "../errors.js";
import { LockReader } from "./lock-reader.js";

const mostEntries = 1_000_000;
/** Of all names together: they are kept until the end. In characters. */
const mostNames = 128 * 1024 * 1024;
/** Where packages are in the archive; what else it has in its first level would take the place of what we add. */
const folders: readonly string[] = ["python", "node"];

/**
 * Takes over what an installation has made, as its box packs it, into an archive of ours. The box is hostile: only
 * files, directories and links come through, each below a directory that the archive itself made and never through a
 * link, owned by root, with nobody else's right to write.
 * @returns What was installed, as the lock of the set.
 * @throws SandboxError `INVALID` for an archive that is something else, `NO_SPACE` for one that is too large
 */
export async function copyLayerFiles(
  archive: ReadableStream<Uint8Array>,
  add: AddEntry,
  most: { readonly bytes: number; readonly names?: number },
): Promise<readonly string[]> {
  const seen = new Map<string, TarHeader["type"]>([["", "directory"]]);
  const lock = new LockReader();
  let bytes = 0;
  let names = 0;
  for await (const entry of archive.pipeThrough(createTarDecoder({ strict: true })) as AsyncIterable<ParsedTarEntry>) {
    const { type = "file", size } = entry.header;
    const name = checkedName(entry.header, seen);
    seen.set(name, type);
    bytes += size;
    names += name.length;
    if (bytes > most.bytes || seen.size > mostEntries || names > (most.names ?? mostNames))
      throw tooMuch(bytes, seen.size);
    const header = ownHeader(entry.header, name, seen);
    const body = type === "file" ? lock.watch(name, entry.body) : entry.body;
    await body.pipeTo(add(header));
  }
  return lock.entries();
}

/** The name of an entry that has a place of its own; with no trailing slash. */
function checkedName(
  { name: written, type = "file" }: TarHeader,
  seen: ReadonlyMap<string, TarHeader["type"]>,
): string {
  const name = written.replace(/\/+$/, "");
  const parts = name.split("/");
  if (!folders.includes(parts[0] ?? "") || (parts.length === 1 && type !== "directory")) throw strange(written);
  const isPlain = parts.every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0"));
  if (!isPlain || seen.has(name) || seen.get(parts.slice(0, -1).join("/")) !== "directory") throw strange(written);
  return name;
}

function ownHeader(
  { type = "file", size, mode = 0, mtime, linkname = "" }: TarHeader,
  name: string,
  seen: ReadonlyMap<string, TarHeader["type"]>,
): TarHeader {
  const owned = { mtime, uid: 0, gid: 0 };
  switch (type) {
    case "file":
      return { ...owned, name, type, size, mode: mode & 0o111 ? 0o755 : 0o644 };
    case "directory":
      return { ...owned, name: `${name}/`, type, size: 0, mode: 0o755 };
    case "symlink":
      return { ...owned, name, type, size: 0, mode: 0o777, linkname };
    case "link":
      if (seen.get(linkname) !== "file") throw strange(name);
      return { ...owned, name, type, size: 0, mode: 0o644, linkname };
    default:
      throw strange(name);
  }
}

function strange(name: string): SandboxError {
  const message = `what the packages installed is no set of files: entry ${JSON.stringify(name.slice(0, 200))} is a device, or leads elsewhere: leave the package out that makes it`;
  return new SandboxError("INVALID", message, { provider: providerName, operation: "create" });
}

function tooMuch(bytes: number, entries: number): SandboxError {
  const message = `what the packages installed is too large (${bytes} bytes, ${entries} files): ask for less, or raise "packages.memoryMiB" of docker()`;
  return new SandboxError("NO_SPACE", message, { provider: providerName, operation: "create" });
}
