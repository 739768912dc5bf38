import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { zipSync } from "fflate";

/** The same files give the same archive: the time of each is that of the first file systems that zip knew. */
const mtime = new Date(1980, 0, 1);

/**
 * A folder as a zip.
 * @param {string} folder
 * @returns {Promise<Uint8Array>}
 */
export async function zipFolder(folder) {
  /** @type {import("fflate").Zippable} */
  const files = {};
  for (const path of await filesOf(folder)) {
    const compressed = /\.(?:whl|zip|png|tgz|gz)$/.test(path);
    files[path] = [await readFile(join(folder, path)), { mtime, level: compressed ? 0 : 6 }];
  }
  return zipSync(files);
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
