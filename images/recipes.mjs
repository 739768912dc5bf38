/**
 * How an image comes about. All grow from `base`, Debian's smallest set that has a package manager.
 * @typedef {object} Recipe
 * @property {string} [from] The image that it starts from; absent: made from nothing.
 * @property {readonly string[]} [packages] Debian packages.
 * @property {readonly string[]} [npmPackages] Packages of the npm registry, handed to the set-up program as tarballs.
 * @property {string} [setup] Program in `setup/` that runs inside afterwards, in a folder with its `inputs`.
 * @property {readonly string[]} [inputs] Files in `setup/` that it reads.
 * @property {string} [root] Folder that becomes the image; default: all of it.
 * @property {Readonly<Record<string, string>>} [env] Environment of what runs in it, over that of `from`.
 */

/** The Debian release that all images are made of. */
export const suite = "bookworm";

/** @type {Readonly<Record<string, Recipe>>} */
export const recipes = {
  base: {
    packages: ["ca-certificates"],
    setup: "base.sh",
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8" },
  },
  /** A shell and coreutils, no interpreter that our agent runs on. */
  bare: { from: "base" },
  /** Nothing but busybox. */
  busybox: { from: "base", packages: ["busybox-static"], setup: "busybox.sh", root: "/box" },
  python: { from: "base", packages: ["python3", "python3-pip", "python3-venv", "python3-pytest", "python-is-python3"] },
  data: { from: "python", setup: "data.sh", inputs: ["data-requirements.txt"] },
  git: { from: "python", packages: ["git"] },
  node: { from: "base", packages: ["nodejs"], npmPackages: ["npm@10.9.2"], setup: "node.sh" },
  go: { from: "base", packages: ["golang-go"] },
  rust: { from: "base", packages: ["rustc", "cargo"] },
};

/**
 * A recipe by name.
 * @param {string} name
 */
export function recipeFor(name) {
  const recipe = Object.hasOwn(recipes, name) ? recipes[name] : undefined;
  if (recipe) return recipe;
  throw new Error(`no image "${name}": there are ${Object.keys(recipes).join(", ")}`);
}
