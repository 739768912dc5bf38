// npm run pack:check: packs every published package, as npm would, and examines what its users then get:
// publint the manifest and the files, attw whether types resolve as the code does. One process: most of it is TypeScript.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { npm, root, runCommand } from "./run-command.mjs";

/** These are for ECMAScript modules only, so that what a CommonJS caller would meet is no fault. */
const examined = new Set(["node16-esm", "bundler"]);

/** What a package that stands alone, far from this repository, brings along. */
const always = ["LICENSE", "README.md"];

/** @param {Uint8Array<ArrayBuffer>} tarball */
async function faultsOf(tarball) {
  const contents = createPackageFromTarballData(tarball);
  const missing = always.filter((name) => !contents.fileExists(`/node_modules/${contents.packageName}/${name}`));
  const types = await checkPackage(contents);
  const wrong = types.types
    ? types.problems.filter((problem) => !("resolutionKind" in problem) || examined.has(problem.resolutionKind))
    : [];
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer }, strict: true });
  return [
    ...missing.map((name) => `no ${name} in it`),
    ...wrong.map((problem) => `types: ${JSON.stringify(problem)}`),
    ...messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code),
  ];
}

/** @returns {string[]} npm's arguments that name the packages that are published */
function published() {
  return readdirSync(`${root}packages`)
    .filter((folder) => !JSON.parse(readFileSync(`${root}packages/${folder}/package.json`, "utf8")).private)
    .flatMap((folder) => ["--workspace", `packages/${folder}`]);
}

const folder = mkdtempSync(join(tmpdir(), "sandkit-pack-"));
try {
  const pack = npm("pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", folder, ...published());
  const { code, output } = await runCommand(pack, { cwd: root });
  if (code !== 0) throw new Error(`npm pack failed with exit code ${code}:\n${output}`);
  for (const name of readdirSync(folder)) {
    const faults = await faultsOf(new Uint8Array(readFileSync(join(folder, name))));
    process.stdout.write(`${faults.length === 0 ? "ok    " : "FAILED"}  ${name}\n`);
    for (const fault of faults) process.stdout.write(`        ${fault}\n`);
    if (faults.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
