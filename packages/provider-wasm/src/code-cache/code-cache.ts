import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { cachedDataVersionTag } from "node:v8";
import { crc32 } from "node:zlib";
import type { SnapshotInfo } from "../snapshot/snapshot.js";
import type { ScriptCaches } from "../worker/realm-host.js";
import type { WorkerAssets } from "../worker/worker.js";

/** What V8 has compiled of the scripts and of the interpreter, for processes to come. It is executable code. */
interface CodeCache {
  readonly scripts: ScriptCaches;
  /** Machine code of the interpreter; absent where V8 has no way to give it. */
  readonly native?: Uint8Array | undefined;
}

interface Header {
  readonly key: string;
  readonly crc: number;
  /** Name and length of each part, in their order in the file. */
  readonly parts: readonly (readonly [name: string, length: number])[];
}

/** Ends the name of a cache that is being built, or whose build has failed. */
export const unfinishedSuffix = ".unfinished";

const headerLengthBytes = 4;
const native = "native";

/**
 * Everything that compiled code depends on: V8 with its flags and the processor's features, our build, the exact
 * scripts, the interpreter and its memory. V8 itself compares no more of a script than its length.
 */
export function codeCacheKey(
  { scripts, snapshot }: Pick<WorkerAssets, "scripts" | "snapshot">,
  wasm: Uint8Array,
  memoryMiB: number,
): string {
  const lengths = [scripts.realm, scripts.loader, scripts.runtime, wasm].map(({ length }) => length);
  return [cachedDataVersionTag(), process.version, process.arch, snapshot.build, memoryMiB, ...lengths].join(" ");
}

/**
 * Reads a cache. Undefined, without a word, for whatever is not exactly that of `key`, whole, and a file of this user that
 * is closed to others: then everything is compiled, as without a cache, and the cache is made anew.
 */
export function readCodeCache(path: string, key: string): CodeCache | undefined {
  const bytes = readOwnFile(path);
  if (!bytes || bytes.length < headerLengthBytes) return undefined;
  const start = headerLengthBytes + bytes.readUInt32LE(0);
  const header = readHeader(bytes.subarray(headerLengthBytes, start));
  const body = bytes.subarray(start);
  if (header?.key !== key || crc32(body) !== header.crc) return undefined;
  let offset = 0;
  const parts = header.parts.map(([name, length]) => {
    // Each in memory of its own: what goes to a worker would otherwise take the whole file along.
    const part = new Uint8Array(body.subarray(offset, offset + length));
    offset += length;
    return [name, part] as const;
  });
  const { [native]: code, ...scripts } = Object.fromEntries(parts);
  return { scripts, native: code };
}

/** Name of the file for a cache: as far as the key is known before a child has started. */
export function codeCacheName(artifacts: string, memoryMiB: number): string {
  const { build } = JSON.parse(readFileSync(`${artifacts}/snapshot.json`, "utf8")) as SnapshotInfo;
  return [`node-${process.versions.node}`, process.arch, `${memoryMiB}-MiB`, build.slice(0, 12)].join("_");
}

/** Whether a file is a cache, finished or not: a directory may hold what is not ours. */
export function isCodeCacheName(name: string): boolean {
  return /^node-[\d.]+_\w+_\d+-MiB_[0-9a-f]{12}(?:\.unfinished)?$/.test(name);
}

/** Writes a cache: whole or not at all. */
export function writeCodeCache(path: string, key: string, { scripts, native: code }: CodeCache): void {
  const all = Object.entries({ ...scripts, [native]: code });
  const parts = all.filter((part): part is [string, Uint8Array] => part[1] !== undefined);
  const body = Buffer.concat(parts.map(([, bytes]) => bytes));
  const header: Header = { key, crc: crc32(body), parts: parts.map(([name, bytes]) => [name, bytes.length]) };
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(headerLengthBytes);
  length.writeUInt32LE(text.length);
  const unfinished = `${path}${unfinishedSuffix}`;
  writeFileSync(unfinished, Buffer.concat([length, text, body]), { mode: 0o600 });
  renameSync(unfinished, path);
}

/** The bytes of a plain file that belongs to this user and is closed to everybody else. */
function readOwnFile(path: string): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    // Not there, or not for us to read: either way there is no cache.
    return undefined;
  }
  try {
    const { uid, mode } = fstatSync(file);
    const plain = (mode & constants.S_IFMT) === constants.S_IFREG;
    return plain && uid === process.getuid?.() && (mode & 0o077) === 0 ? readFileSync(file) : undefined;
  } finally {
    closeSync(file);
  }
}

function readHeader(text: Buffer): Header | undefined {
  try {
    return JSON.parse(text.toString()) as Header;
  } catch {
    return undefined;
  }
}
