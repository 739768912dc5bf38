import { realpathSync } from "node:fs";
import { cp, mkdir, readFile, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";

/** Of no use where nothing is compiled. */
const notNeeded = /\.(?:d\.[cm]?ts|map|tsbuildinfo|md|markdown)$/i;
const license = /(?:^|\/)licen[cs]e[^/]*$/i;

/**
 * Copies packages, and all that they need to run, into a `node_modules` that needs no installing. A package goes to the
 * top, or below who needs it where another version is at the top already, as npm does it.
 * @param {readonly string[]} names
 * @param {string} from A folder whose `node_modules` has them.
 * @param {string} target The folder that gets a `node_modules`.
 */
export async function copyPackages(names, from, target) {
  /** @type {Map<string, string>} What lies at the top, by name. */
  const top = new Map();
  /** @type {{ name: string, from: string, owner: string }[]} */
  const queue = names.map((name) => ({ name, from, owner: target }));
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const source = await find(next.name, next.from);
    if (top.get(next.name) === source) continue;
    const place = top.has(next.name) ? next.owner : target;
    if (place === target) top.set(next.name, source);
    const destination = join(place, "node_modules", next.name);
    const manifest = JSON.parse(await readFile(join(source, "package.json"), "utf8"));
    await copyPackage(source, destination, manifest.files);
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (!name.startsWith("@types/")) queue.push({ name, from: source, owner: destination });
    }
  }
}

/**
 * As Node looks for it: in the `node_modules` of each folder upwards.
 * @param {string} name
 * @param {string} from
 * @returns {Promise<string>}
 */
async function find(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (await isThere(join(candidate, "package.json"))) return realpathSync(candidate);
    if (folder === dirname(folder)) throw new Error(`${name}, which ${from} needs, is not installed: npm install`);
  }
}

/** @param {string} path */
async function isThere(path) {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

/**
 * @param {string} source
 * @param {string} destination
 * @param {readonly string[] | undefined} files Of a package of ours: what npm would publish.
 */
async function copyPackage(source, destination, files) {
  await mkdir(destination, { recursive: true });
  const isOurs = !source.includes(`${sep}node_modules${sep}`);
  const parts = isOurs ? ["package.json", ...(files ?? []).filter((file) => !file.startsWith("!"))] : ["."];
  const left = isOurs ? (files ?? []).filter((file) => file.startsWith("!")).map(patternOf) : [];
  for (const part of parts) {
    await cp(join(source, part), join(destination, part), {
      recursive: true,
      dereference: true,
      filter: (path) => {
        const inside = path.slice(source.length).replaceAll(sep, "/");
        if (left.some((pattern) => pattern.test(inside))) return false;
        return !inside.startsWith("/node_modules") && (license.test(inside) || !notNeeded.test(inside));
      },
    });
  }
}

/**
 * What npm leaves out by `!dist/build-*.mjs`, as a pattern of paths that begin with a slash.
 * @param {string} file
 */
function patternOf(file) {
  const [first = "", ...more] = file
    .slice(1)
    .split("*")
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^/${[first, ...more].join("[^/]*")}$`);
}
