import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";

/** The same files give the same archive: each is from 1 January 1980, the first day that zip knows. */
const date = 0x21;
const utf8Names = 0x0800;
const version = 20;

/**
 * A folder as a zip.
 * @param {string} folder
 */
export async function zipFolder(folder) {
  const locals = [];
  const entries = [];
  let offset = 0;
  for (const path of await filesOf(folder)) {
    const data = await readFile(join(folder, path));
    const deflated = deflateRawSync(data);
    const isSmaller = deflated.length < data.length;
    const body = isSmaller ? deflated : data;
    const name = Buffer.from(path);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(version, 0);
    facts.writeUInt16LE(utf8Names, 2);
    facts.writeUInt16LE(isSmaller ? 8 : 0, 4);
    facts.writeUInt16LE(date, 8);
    facts.writeUInt32LE(crc32(data), 10);
    facts.writeUInt32LE(body.length, 14);
    facts.writeUInt32LE(data.length, 18);
    facts.writeUInt16LE(name.length, 22);
    locals.push(Buffer.from("PK\x03\x04"), facts, name, body);
    // Made by version 2.0; then the same facts, no comment, first disk, no attributes, and where the file lies.
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    entries.push(Buffer.from("PK\x01\x02\x14\x00"), facts, tail, name);
    offset += 4 + facts.length + name.length + body.length;
  }
  const directory = Buffer.concat(entries);
  const count = entries.length / 4;
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

/**
 * @param {string} folder
 * @param {string} [below]
 * @returns {Promise<string[]>} In one order on every machine.
 */
async function filesOf(folder, below = "") {
  const entries = await readdir(join(folder, below), { withFileTypes: true });
  const lists = entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((entry) => {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      return entry.isDirectory() ? filesOf(folder, path) : [path];
    });
  return (await Promise.all(lists)).flat();
}
