// npm run bundle [-- FOLDER]
// The server as one tree that needs Node alone (`build/server`, which the Dockerfile copies), the same as an MCPB bundle,
// and what the registry of MCP is told (`server.json`). Both descriptions are checked. The packages must be built.
import { createHash } from "node:crypto";
import { copyFile, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { zipFolder } from "./bundle/archive.mjs";
import { copyPackages } from "./bundle/dependencies.mjs";
import { bundleManifest, registryEntry, registryName } from "./bundle/manifest.mjs";
import { toolsOf } from "./bundle/tools-of.mjs";
import { root } from "./run-command.mjs";

const build = resolve(process.argv[2] ?? join(root, "build"));
const folder = join(build, "bundle");
const server = join(folder, "server");

const { version, mcpName } = JSON.parse(await readFile(join(root, "packages/cli/package.json"), "utf8"));
if (mcpName !== registryName) throw new Error(`"mcpName" of packages/cli/package.json is not ${registryName}`);

await rm(build, { recursive: true, force: true });
await mkdir(server, { recursive: true });
const providers = ["@sandkit/provider-wasm", "@sandkit/provider-docker"];
await copyPackages(["@sandkit/mcp-server", ...providers], root, server);
await cp(join(root, "scripts/bundle/server"), server, { recursive: true });
await copyFile(join(root, "LICENSE"), join(folder, "LICENSE"));
await writeFile(join(server, "package.json"), `${JSON.stringify({ private: true, type: "module" })}\n`);

const manifest = bundleManifest(version, await toolsOf(join(server, "index.js")));
await write(join(folder, "manifest.json"), manifest, "mcpb-manifest");
const archive = await zipFolder(folder);
const name = `sandkit-${version}.mcpb`;
await writeFile(join(build, name), archive);
const sha256 = createHash("sha256").update(archive).digest("hex");
await write(join(build, "server.json"), registryEntry(version, { name, sha256 }), "registry-entry");
const megabytes = (archive.length / 1024 / 1024).toFixed(1);
process.stdout.write(`${join(build, name)} (${megabytes} MB)\n${join(build, "server.json")}\n${server}\n`);

/**
 * @param {string} path
 * @param {object} data
 * @param {string} schema Name of the one that it must satisfy.
 */
async function write(path, data, schema) {
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strictTypes: false });
  const text = await readFile(new URL(`bundle/schemas/${schema}.json`, import.meta.url), "utf8");
  if (!ajv.validate(JSON.parse(text), data)) throw new Error(`${path}: ${ajv.errorsText(undefined, { dataVar: "" })}`);
  await writeFile(path, `${JSON.stringify(data, null, 2)}\n`);
}
