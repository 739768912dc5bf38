// npm run test:nodes [-- vitest arguments]: what keeps guests in, on the other lines of Node that are supported.
import { lineOf, nodeOf, nodeVersions } from "./node-of.mjs";
import { root, runCommand } from "./run-command.mjs";
import { setUp } from "./set-up.mjs";

/** What meets walls of ours and not of Node's (`{javascript,shell}-hostile`) is as on the Node of `npm test`. */
const tests = ["isolation", "realm", "hostile.test", "hardening", "code-cache.test"].map(
  (name) => `packages/provider-wasm/test/${name}`,
);

await setUp();
const others = nodeVersions.filter((version) => lineOf(version) !== lineOf(process.versions.node));
/** @type {string[]} */
const nodes = [];
for (const version of others) nodes.push(await nodeOf(version));
process.stdout.write(`\nNode ${others.join(" and ")}, at the same time: most of it waits for deadlines\n`);
const runs = nodes.map((node) => {
  const vitest = [node, `${root}node_modules/vitest/vitest.mjs`, "run", "--reporter=dot", "--maxWorkers=2"];
  return runCommand([...vitest, ...tests, ...process.argv.slice(2)], { show: true });
});
if ((await Promise.all(runs)).some(({ code }) => code !== 0)) process.exitCode = 1;
