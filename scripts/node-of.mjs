import { existsSync } from "node:fs";
import { npm, root } from "./run-command.mjs";
import { wait } from "./set-up.mjs";

/** One of each supported line, from the npm registry, where Node's own builds are packages. */
export const nodeVersions = ["20.20.2", "22.23.5", "24.22.3"];

/** @param {string} version */
export const lineOf = (version) => version.split(".")[0];

/**
 * Path of another Node, installed where it is missing.
 * @param {string} version
 */
export async function nodeOf(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = `${root}node_modules/.cache/sandkit/node-${version}`;
  const binary = `${folder}/node_modules/${name}/bin/node`;
  if (!existsSync(binary)) {
    const quiet = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
    await wait(`installing Node ${version}`, npm("install", "--prefix", folder, ...quiet, `${name}@${version}`));
  }
  return binary;
}
