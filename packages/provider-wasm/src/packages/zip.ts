import { crc32, inflateRawSync } from "node:zlib";
import { BadArchive } from "./bad-archive.js";

/** One file of an archive. */
export interface ZipEntry {
  /** Relative, of plain names only. */
  readonly name: string;
  /** As the archive tells it; reading makes sure. */
  readonly size: number;
  readonly isExecutable: boolean;
  readonly method: number;
  readonly compressedSize: number;
  readonly crc: number;
  readonly offset: number;
}

const [endSignature, centralSignature, localSignature] = [0x06054b50, 0x02014b50, 0x04034b50];
const [endLength, centralLength, localLength] = [22, 46, 30];
const longestComment = 0xffff;
const longestName = 1024;
const [stored, deflated] = [0, 8];
const [typeMask, regularFile, directory] = [0o170000, 0o100000, 0o040000];
const unix = 3;

/**
 * The files of an archive, by its own table. Takes what wheels are made of and nothing else: no links, no names that
 * lead elsewhere, no name twice, no encryption, no archive above 4 GiB.
 * @throws BadArchive
 */
export function listZip(bytes: Buffer): ZipEntry[] {
  const end = findEnd(bytes);
  const [count, length, start] = [
    bytes.readUInt16LE(end + 10),
    bytes.readUInt32LE(end + 12),
    bytes.readUInt32LE(end + 16),
  ];
  if (bytes.readUInt16LE(end + 4) !== 0 || bytes.readUInt16LE(end + 8) !== count)
    throw new BadArchive("is a part of an archive");
  if (start + length > end) throw new BadArchive("has a table of contents that is not in it");
  const entries: ZipEntry[] = [];
  const names = new Set<string>();
  let at = start;
  for (let index = 0; index < count; index += 1) {
    if (at + centralLength > end || bytes.readUInt32LE(at) !== centralSignature) {
      throw new BadArchive("has a damaged table of contents");
    }
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field));
    const next = at + centralLength + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
    if (next > end) throw new BadArchive("has a damaged table of contents");
    const entry = readEntry(bytes, at, nameLength ?? 0);
    if (entry) {
      if (names.has(entry.name)) throw new BadArchive(`holds ${JSON.stringify(entry.name)} twice`);
      names.add(entry.name);
      entries.push(entry);
    }
    at = next;
  }
  return entries;
}

/** The content of one file. @throws BadArchive when it is not what the table tells */
export function readZip(bytes: Buffer, entry: ZipEntry): Buffer {
  const { name, offset, method, compressedSize, size, crc } = entry;
  if (offset + localLength > bytes.length || bytes.readUInt32LE(offset) !== localSignature) {
    throw new BadArchive(`has no ${JSON.stringify(name)} where it says`);
  }
  const start = offset + localLength + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
  const packed = bytes.subarray(start, start + compressedSize);
  const content = method === stored ? packed : inflate(packed, size, name);
  if (content.length !== size || crc32(content) !== crc) throw new BadArchive(`has a damaged ${JSON.stringify(name)}`);
  return content;
}

/** Never more than was announced, whatever it would unpack to. */
function inflate(packed: Buffer, size: number, name: string): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(size, 1) });
  } catch (error) {
    throw new BadArchive(`has a damaged ${JSON.stringify(name)}`, { cause: error });
  }
}

function findEnd(bytes: Buffer): number {
  const lowest = Math.max(0, bytes.length - endLength - longestComment);
  for (let at = bytes.length - endLength; at >= lowest; at -= 1) {
    const ends = at + endLength + bytes.readUInt16LE(at + 20) === bytes.length;
    if (ends && bytes.readUInt32LE(at) === endSignature) return at;
  }
  throw new BadArchive("is no zip archive");
}

/** Undefined for a directory: those come with the files in them. */
function readEntry(bytes: Buffer, at: number, nameLength: number): ZipEntry | undefined {
  const name = decode(bytes.subarray(at + centralLength, at + centralLength + nameLength));
  const [system, attributes] = [bytes.readUInt8(at + 5), bytes.readUInt32LE(at + 38)];
  const mode = system === unix ? attributes >>> 16 : 0;
  const isDirectory = name.endsWith("/");
  checkName(isDirectory ? name.slice(0, -1) : name);
  const type = mode & typeMask;
  if (type !== 0 && type !== (isDirectory ? directory : regularFile)) {
    throw new BadArchive(`holds ${JSON.stringify(name)}, which is a link or another thing that is no file`);
  }
  if (isDirectory) return undefined;
  const [flags, method] = [bytes.readUInt16LE(at + 8), bytes.readUInt16LE(at + 10)];
  if ((flags & 1) !== 0) throw new BadArchive(`holds ${JSON.stringify(name)} encrypted`);
  if (method !== stored && method !== deflated) throw new BadArchive(`packs ${JSON.stringify(name)} in an unknown way`);
  const [crc, compressedSize, size, offset] = [16, 20, 24, 42].map((field) => bytes.readUInt32LE(at + field));
  const whole = { crc: crc ?? 0, compressedSize: compressedSize ?? 0, size: size ?? 0, offset: offset ?? 0 };
  return { name, method, isExecutable: (mode & 0o111) !== 0, ...whole };
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new BadArchive("holds a name that is no text", { cause: error });
  }
}

function checkName(name: string): void {
  const plain = name
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== ".." && Buffer.byteLength(part) <= 255);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is refused.
  if (!plain || name.length > longestName || /[\\\0-\x1f]|^[a-z]:/i.test(name)) {
    throw new BadArchive(`holds the name ${JSON.stringify(name)}, which may lead out of it`);
  }
}
