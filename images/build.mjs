// node images/build.mjs NAME...: builds images from Debian packages and gives them to the engine, unless it has them.
// Prints the name of each; talks on stderr. As root on Debian, with mmdebstrap. SANDKIT_CACHE holds the tarballs.
import { pathToFileURL } from "node:url";
import { recipeFor, recipes } from "./recipes.mjs";
import { imageName, isStored, makeCurrent, storeImage } from "./store.mjs";

/** As many at a time as two processors have use for. */
const parallel = 2;

/**
 * Makes sure that the engine has the images.
 * @param {readonly string[]} names
 * @param {(message: string) => void} report
 * @returns {Promise<string[]>} Their names in the engine.
 */
export async function ensureImages(names, report) {
  for (const name of names) recipeFor(name);
  /** @type {string[]} */
  const missing = [];
  for (const name of names) if (!(await isStored(name))) missing.push(name);
  const worker = async () => {
    for (let name = missing.shift(); name; name = missing.shift()) await storeImage(name, report);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  await Promise.all(names.map(makeCurrent));
  return names.map(imageName);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const names = process.argv.slice(2);
  try {
    if (names.length === 0) throw new Error(`name the images to build: ${Object.keys(recipes).join(" ")}`);
    for (const name of await ensureImages(names, (message) => process.stderr.write(`${message}\n`)))
      process.stdout.write(`${name}\n`);
  } catch (error) {
    process.stderr.write(`error  ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
