// npm run test:nodes [-- vitest arguments]: what keeps guests in, and the SDKs of clouds, on the other lines of Node that
// are supported.
import { lineOf, nodeOf, nodeVersions } from "./node-of.mjs";
import { root, runCommand } from "./run-command.mjs";
import { setUp } from "./set-up.mjs";

/** What meets walls of ours and not of Node's (`{javascript,shell}-hostile`) is as on the Node of `npm test`. */
const walls = ["isolation", "realm", "hostile.test", "hardening", "code-cache.test"].map(
  (name) => `packages/provider-wasm/test/${name}`,
);
/** What a vendor's SDK speaks HTTP and WebSocket by is Node's, and another client on newer lines. */
const clouds = [
  "provider-e2b/test/round-trip",
  "provider-e2b/test/provider.test",
  "provider-daytona/test/round-trip",
  "provider-daytona/test/client.test",
].map((name) => `packages/${name}`);

await setUp();
const others = nodeVersions.filter((version) => lineOf(version) !== lineOf(process.versions.node));
/** @type {string[]} */
const nodes = [];
for (const version of others) nodes.push(await nodeOf(version));
process.stdout.write(`\nNode ${others.join(" and ")}, at the same time: most of it waits for deadlines\n`);
const runs = nodes.map((node) => {
  const vitest = [node, `${root}node_modules/vitest/vitest.mjs`, "run", "--reporter=dot", "--maxWorkers=2"];
  return runCommand([...vitest, ...walls, ...clouds, ...process.argv.slice(2)], { show: true });
});
if ((await Promise.all(runs)).some(({ code }) => code !== 0)) process.exitCode = 1;
