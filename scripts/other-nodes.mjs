// npm run test:nodes [-- vitest arguments]: what keeps guests in, on the other lines of Node that are supported.
import { existsSync } from "node:fs";
import { npm, root, runCommand } from "./run-command.mjs";
import { setUp, wait } from "./set-up.mjs";

/** From the npm registry, where Node's own builds are packages. */
const versions = ["20.20.2", "22.23.5", "24.22.3"];
const tests = [
  "isolation",
  "realm",
  "hostile",
  "javascript-hostile",
  "shell-hostile",
  "hardening",
  "code-cache.test",
].map((name) => `packages/provider-wasm/test/${name}`);
/** What meets limits of ours and not of Node's is as on the Node of `npm test`, and takes long. */
const onAnyNode = "^(?!scripts that never end|many shells|bombs for QuickJS)";

/** @param {string} version */
const lineOf = (version) => version.split(".")[0];

/**
 * Path of another Node, installed where it is missing.
 * @param {string} version
 */
async function nodeOf(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = `${root}node_modules/.cache/sandkit/node-${version}`;
  const binary = `${folder}/node_modules/${name}/bin/node`;
  if (!existsSync(binary)) {
    const quiet = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"];
    await wait(`installing Node ${version}`, npm("install", "--prefix", folder, ...quiet, `${name}@${version}`));
  }
  return binary;
}

await setUp();
const others = versions.filter((version) => lineOf(version) !== lineOf(process.versions.node));
/** @type {string[]} */
const nodes = [];
for (const version of others) nodes.push(await nodeOf(version));
process.stdout.write(`\nNode ${others.join(" and ")}, at the same time: most of it waits for deadlines\n`);
const runs = nodes.map((node) => {
  const vitest = [
    node,
    `${root}node_modules/vitest/vitest.mjs`,
    "run",
    "--reporter=dot",
    "--maxWorkers=2",
    "-t",
    onAnyNode,
  ];
  return runCommand([...vitest, ...tests, ...process.argv.slice(2)], { show: true });
});
if ((await Promise.all(runs)).some(({ code }) => code !== 0)) process.exitCode = 1;
