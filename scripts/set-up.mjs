import { readFileSync } from "node:fs";
import { npm, root, runCommand, tool } from "./run-command.mjs";

/**
 * Installs the dependencies when they are missing or are not those of the lock, and builds every package.
 * Talks on stderr only, and ends the program with 1 when it cannot go on.
 * @param {{ types?: boolean }} [options] `types: false` builds only what runs, in a third of the time, unless all of it
 *   was built before.
 */
export async function setUp({ types = true } = {}) {
  requireNode();
  if (!isInstalled())
    await wait("installing dependencies (npm ci)", npm("ci", "--no-audit", "--no-fund", "--loglevel=error"));
  const all = types || (await isBuilt());
  await wait("building the packages", turbo("build"), { env: all ? {} : { SANDKIT_BUILD: "js" } });
}

/** Whether turbo has every package as it is now, with its types. */
async function isBuilt() {
  const { code, output } = await runCommand([...turbo("build"), "--dry=json"]);
  if (code !== 0) return false;
  /** @type {{ tasks: { cache: { status: string } }[] }} */
  const { tasks } = JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1));
  return tasks.every(({ cache }) => cache.status === "HIT");
}

/** Older versions fail in ways that do not name the reason. */
function requireNode() {
  const wanted = /\d+\.\d+\.\d+/.exec(JSON.parse(readFileSync(`${root}package.json`, "utf8")).engines.node)?.[0] ?? "";
  if (process.versions.node.localeCompare(wanted, "en", { numeric: true }) >= 0) return;
  process.stderr.write(`error  this is Node ${process.versions.node}, and Sandkit needs ${wanted} or newer\n`);
  process.stderr.write(
    "fix    install a current Node from nodejs.org or your package manager, then the same command again\n",
  );
  process.exit(1);
}

/** @param {readonly string[]} tasks */
export function turbo(...tasks) {
  return tool("turbo/bin/turbo", "run", ...tasks, "--output-logs=errors-only", "--cache=local:rw");
}

/**
 * Runs one step of the set-up and says what is being waited for, once that takes over a second.
 * @param {string} what
 * @param {readonly string[]} command
 * @param {{ cwd?: string, env?: Record<string, string> }} [options]
 */
export async function wait(what, command, options) {
  const start = performance.now();
  const notice = setTimeout(() => process.stderr.write(`set-up  ${what} …\n`), 1000);
  const { code, output } = await runCommand(command, options);
  clearTimeout(notice);
  const seconds = (performance.now() - start) / 1000;
  if (code === 0) {
    if (seconds > 1) process.stderr.write(`set-up  ${what}: done in ${seconds.toFixed(1)} s\n`);
    return;
  }
  process.stderr.write(`${output}\nerror  ${what} failed with exit code ${code}: ${command.join(" ")}\n`);
  process.stderr.write(
    "fix    see the output above; to start over: rm -rf node_modules, then the same command again\n",
  );
  process.exit(1);
}

/**
 * Whether npm has installed exactly what the lock lists. Packages for other machines are optional and may be absent.
 * @param {string} [folder] Where the lock lies, with a trailing slash.
 */
export function isInstalled(folder = root) {
  const installed = packagesOf(`${folder}node_modules/.package-lock.json`);
  if (!installed) return false;
  return Object.entries(packagesOf(`${folder}package-lock.json`) ?? {}).every(
    ([path, wanted]) =>
      !path.startsWith("node_modules/") || wanted.optional || installed[path]?.version === wanted.version,
  );
}

/**
 * @param {string} lock Its path.
 * @returns {Record<string, { version?: string, optional?: boolean }> | undefined} undefined when there is no such lock
 */
function packagesOf(lock) {
  try {
    return JSON.parse(readFileSync(lock, "utf8")).packages;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
