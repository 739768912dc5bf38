import { createReadStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { askEngine } from "../scripts/engine-api.mjs";
import { buildRoot } from "./build-root.mjs";
import { envOf, hashOf } from "./hash.mjs";
import { recipeFor } from "./recipes.mjs";

const cache = process.env.SANDKIT_CACHE ?? `${homedir()}/.cache/sandkit`;
const folder = `${cache}/images`;
/** @type {Map<string, Promise<string>>} */
const tarballs = new Map();

/**
 * The name that the engine knows an image by: it changes with the recipe.
 * @param {string} name
 */
export function imageName(name) {
  return `sandkit/${name}:test-${hashOf(name)}`;
}

/**
 * Whether the engine has the image already.
 * @param {string} name
 */
export async function isStored(name) {
  return (await askEngine("GET", `/images/${imageName(name)}/json`)).status === 200;
}

/**
 * Gives an image that the engine has its short name, `sandkit/NAME:test`, and takes those of earlier recipes away.
 * @param {string} name
 */
export async function makeCurrent(name) {
  const [repository = "", tag = ""] = imageName(name).split(":");
  await askEngine("POST", `/images/${repository}:${tag}/tag?repo=${repository}&tag=test`);
  await forgetOlder(repository, tag);
}

/**
 * Builds an image and gives it to the engine, as `sandkit/NAME:test-HASH`.
 * @param {string} name
 * @param {(message: string) => void} report Told when it is done.
 */
export async function storeImage(name, report) {
  const start = performance.now();
  const tarball = await tarballOf(name, report);
  const [repository = "", tag = ""] = imageName(name).split(":");
  const query = new URLSearchParams({ fromSrc: "-", repo: repository, tag });
  for (const [key, value] of Object.entries(envOf(name))) query.append("changes", `ENV ${key}=${value}`);
  query.append("changes", `LABEL sandkit.image=${name}`);
  query.append("changes", 'CMD ["sh"]');
  const { status, text } = await askEngine("POST", `/images/create?${query}`, { body: createReadStream(tarball) });
  if (status !== 200 || text.includes('"error"'))
    throw new Error(`the engine does not take ${tarball}: ${status} ${text.trim()}`);
  report(`image ${name}: in the engine after ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

/**
 * The tarball of an image, built when the cache does not have it; at most once at a time.
 * @param {string} name
 * @param {(message: string) => void} report
 * @returns {Promise<string>}
 */
function tarballOf(name, report) {
  const running = tarballs.get(name) ?? makeTarball(name, report);
  tarballs.set(name, running);
  return running;
}

/**
 * @param {string} name
 * @param {(message: string) => void} report
 */
async function makeTarball(name, report) {
  const file = `${folder}/${name}-${hashOf(name)}.tar`;
  if (existsSync(file)) return file;
  const { from } = recipeFor(name);
  const parent = from ? await tarballOf(from, report) : undefined;
  const start = performance.now();
  mkdirSync(folder, { recursive: true });
  const partial = `${file}.${process.pid}`;
  try {
    await buildRoot(name, parent, { tarball: partial, packageLists: `${folder}/package-lists.tar` });
    renameSync(partial, file);
  } finally {
    rmSync(partial, { force: true });
  }
  const older = readdirSync(folder).filter((entry) => new RegExp(`^${name}-[0-9a-f]{12}\\.tar$`).test(entry));
  for (const entry of older) if (!file.endsWith(`/${entry}`)) rmSync(`${folder}/${entry}`);
  report(`image ${name}: built in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return file;
}

/**
 * Takes the images of earlier recipes away; one that a container still uses stays for the next time.
 * @param {string} repository
 * @param {string} tag The one to keep.
 */
async function forgetOlder(repository, tag) {
  const filters = encodeURIComponent(JSON.stringify({ reference: [`${repository}:test-*`] }));
  const { text } = await askEngine("GET", `/images/json?filters=${filters}`);
  /** @type {{ RepoTags: string[] | null }[]} */
  const images = JSON.parse(text);
  const older = images.flatMap(({ RepoTags }) => RepoTags ?? []).filter((name) => name !== `${repository}:${tag}`);
  for (const name of older.filter((name) => name.startsWith(`${repository}:test-`)))
    await askEngine("DELETE", `/images/${name}`);
}
