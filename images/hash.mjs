import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { recipeFor, suite } from "./recipes.mjs";

/** The programs whose change makes other images of the same recipes. */
const builders = ["build-root.mjs", "chroot.mjs"];

/**
 * Names the content of an image before it is built: the recipe, what it reads, and the same of the image below.
 * @param {string} name
 * @returns {string}
 */
export function hashOf(name) {
  const recipe = recipeFor(name);
  const hash = createHash("sha256").update(JSON.stringify([suite, process.arch, recipe]));
  if (recipe.from) hash.update(hashOf(recipe.from));
  else for (const file of builders) hash.update(readFileSync(new URL(file, import.meta.url)));
  for (const file of [recipe.setup, ...(recipe.inputs ?? [])]) {
    if (file) hash.update(readFileSync(new URL(`setup/${file}`, import.meta.url)));
  }
  return hash.digest("hex").slice(0, 12);
}

/**
 * The environment of an image, with that of the images below it.
 * @param {string} name
 * @returns {Record<string, string>}
 */
export function envOf(name) {
  const { from, env } = recipeFor(name);
  return { ...(from ? envOf(from) : {}), ...env };
}
