import { crc32, deflateRawSync } from "node:zlib";

/** One file of an archive, with whatever is wrong about it. */
export interface ZipFile {
  readonly name: string;
  readonly content: string | Uint8Array;
  /** Type and permission bits; default: a plain file. */
  readonly mode?: number;
  readonly flags?: number;
  /** What the archive says in place of the truth. */
  readonly claimedSize?: number;
}

const headerLengths = { local: 30, central: 46, end: 22 };

/** An archive of these files, as they are: nothing is checked. */
export function makeZip(files: readonly ZipFile[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, mode = 0o100644, flags = 0, claimedSize } of files) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const own = Buffer.from(name);
    const size = claimedSize ?? bytes.length;
    const local = Buffer.alloc(headerLengths.local);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(own.length, 26);
    const central = Buffer.alloc(headerLengths.central);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt8(20, 4);
    central.writeUInt8(3, 5);
    central.writeUInt16LE(flags, 8);
    central.writeUInt16LE(8, 10);
    central.writeUInt32LE(crc32(bytes), 16);
    central.writeUInt32LE(packed.length, 20);
    central.writeUInt32LE(size, 24);
    central.writeUInt16LE(own.length, 28);
    central.writeUInt32LE((mode << 16) >>> 0, 38);
    central.writeUInt32LE(offset, 42);
    parts.push(local, own, packed);
    directory.push(central, own);
    offset += local.length + own.length + packed.length;
  }
  const table = Buffer.concat(directory);
  const end = Buffer.alloc(headerLengths.end);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(table.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, table, end]);
}
