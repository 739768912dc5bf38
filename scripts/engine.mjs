import { readdirSync, readFileSync } from "node:fs";
import { ensureImages } from "../images/build.mjs";
import { canInstall, installMissing, isSetUpWanted } from "./debian-packages.mjs";
import { findEngine } from "./engine-api.mjs";
import { root } from "./run-command.mjs";
import { installEngine, startEngine } from "./start-engine.mjs";

/** What a test reads to learn that there is an engine, and the name of an image in it. */
const engineMark = "SANDKIT_TEST_ENGINE";
const imageMark = /SANDKIT_TEST_IMAGE_([A-Z]+)/g;
/** And that a program was installed for it. */
const programMark = /SANDKIT_TEST_PROGRAM_([A-Z]+)/g;
/** Debian's packages by program, for each of those. */
const programs = /** @type {Record<string, Record<string, string>>} */ ({
  PODMAN: { podman: "podman", catatonit: "catatonit" },
  // On a machine with an init system this one starts a server that everybody can reach: not for who only wants tests.
  ...(process.env.CI && { SSHD: { sshd: "openssh-server", ssh: "openssh-client" } }),
});

/**
 * Gives the tests that are going to run the container engine and the images that they name, as environment:
 * `SANDKIT_TEST_ENGINE=1`, `SANDKIT_TEST_IMAGE_PYTHON=…`. An image given from outside is taken as it is.
 * Installs and starts an engine, and installs further programs that tests name (`SANDKIT_TEST_PROGRAM_PODMAN=1`), where
 * that is asked for (`CI`, `SANDKIT_SETUP=1`) and possible (root, Debian).
 * @param {readonly string[]} args The command line of vitest.
 * @returns {Promise<{ env: Record<string, string>, skipped?: string }>} `skipped`: why the tests on an engine do not run.
 * @throws Error where they must run (`CI`) and cannot
 */
export async function ensureEngine(args) {
  const wanted = wantedBy(args);
  if (!wanted.engine) return { env: {} };
  try {
    const extra = await installable(wanted.programs);
    await makeAnswer(extra);
    const images = wanted.images.filter((name) => !process.env[variableFor(name)]);
    const names = await ensureImages(images, (message) => process.stderr.write(`set-up  ${message}\n`));
    const env = Object.fromEntries(images.map((name, index) => [variableFor(name), names[index] ?? ""]));
    const installed = Object.fromEntries(Object.keys(extra).map((name) => [`SANDKIT_TEST_PROGRAM_${name}`, "1"]));
    return { env: { ...env, ...installed, [engineMark]: "1" } };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (process.env.CI) throw new Error(`the tests on a container engine cannot run: ${why}`);
    return { env: { [engineMark]: "" }, skipped: `${why.split("\n")[0]}; the tests on a container engine do not run` };
  }
}

/** @param {string} image */
function variableFor(image) {
  return `SANDKIT_TEST_IMAGE_${image.toUpperCase()}`;
}

/**
 * Those of the programs that may be installed here.
 * @param {readonly string[]} names
 */
async function installable(names) {
  if (!isSetUpWanted || !(await canInstall())) return {};
  return Object.fromEntries(Object.entries(programs).filter(([name]) => names.includes(name)));
}

/** @param {typeof programs} extra What is installed along with it, in one go. */
async function makeAnswer(extra) {
  const packages = Object.assign({}, ...Object.values(extra));
  const { reason } = await findEngine();
  if (!reason) return installMissing(packages);
  if (process.env.DOCKER_HOST || !isSetUpWanted) throw new Error(`no container engine answers (${reason})${hint}`);
  if (!(await canInstall()))
    throw new Error(`no container engine answers (${reason}), and only root on Debian can install one here`);
  await installEngine(packages);
  await startEngine();
}

const hint = ": start Docker, set DOCKER_HOST, or as root on Debian set SANDKIT_SETUP=1 to have one installed";

/**
 * What the selected tests say that they need, and the programs beside them that they import.
 * @param {readonly string[]} args
 */
function wantedBy(args) {
  const filters = args.filter((arg) => !arg.startsWith("-"));
  const files = testFiles();
  const selects = (/** @type {string} */ path) => filters.length === 0 || filters.some((text) => path.includes(text));
  const tests = files.filter(([, path]) => path.endsWith(".test.ts") && selects(path));
  const folders = new Set(tests.map(([folder]) => folder));
  const support = files.filter(([folder, path]) => folders.has(folder) && !path.endsWith(".test.ts"));
  const text = [...tests, ...support].map(([, path]) => readFileSync(path, "utf8")).join("\n");
  const images = [...text.matchAll(imageMark)].map(([, name = ""]) => name.toLowerCase());
  const named = [...text.matchAll(programMark)].map(([, name = ""]) => name);
  return { engine: text.includes(engineMark) || images.length > 0, images: [...new Set(images)], programs: named };
}

/** @returns {[folder: string, path: string][]} Every program in a test folder, with that folder. */
function testFiles() {
  const packages = readdirSync(`${root}packages`).map((name) => `${root}packages/${name}/test`);
  return [...packages, `${root}examples/test`].flatMap((folder) =>
    listTests(folder).map((file) => /** @type {[string, string]} */ ([folder, `${folder}/${file}`])),
  );
}

/** @param {string} folder */
function listTests(folder) {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
