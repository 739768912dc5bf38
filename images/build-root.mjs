import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { buildFolder, leaveInside, runInside } from "./chroot.mjs";
import { recipeFor, suite } from "./recipes.mjs";
import { run } from "./run.mjs";

const setupFolder = fileURLToPath(new URL("setup/", import.meta.url));
/** Not in the image. */
const leftOut = [
  "proc/*",
  "dev/*",
  "sys/*",
  "usr/share/doc/*",
  "usr/share/man/*",
  "usr/share/locale/*",
  "usr/share/info/*",
];

/**
 * Builds the root of an image into a tarball.
 * @param {string} name
 * @param {string | undefined} parent Tarball of the image that it starts from.
 * @param {{ tarball: string, packageLists: string }} files `packageLists`: tarball of what is known of Debian's
 *   packages, written with the first image and read with those that grow from it.
 */
export async function buildRoot(name, parent, { tarball, packageLists }) {
  const recipe = recipeFor(name);
  const work = mkdtempSync(`${workFolder()}/sandkit-image-`);
  const root = `${work}/root`;
  mkdirSync(root);
  try {
    if (parent) await run(["tar", "-C", root, "-xf", parent]);
    else await bootstrap(work, root, recipe.packages ?? []);
    if (!parent) await run(["tar", "-C", root, "-cf", packageLists, "./var/lib/apt/lists"]);
    else if (recipe.packages) await installPackages(root, recipe.packages, packageLists);
    if (recipe.setup) await runSetup(root, recipe.setup, recipe.inputs ?? [], recipe.npmPackages ?? []);
    leaveInside(root);
    await emptyCaches(root);
    const excludes = leftOut.map((path) => `--exclude=./${path}`);
    await run(["tar", "-C", `${root}${recipe.root ?? ""}`, "--numeric-owner", ...excludes, "-cf", tarball, "."]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Memory where there is plenty: a root has ten thousand small files, and a disk takes ten times as long. */
function workFolder() {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    if (bavail * bsize > 4 * 1024 ** 3) return "/dev/shm";
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
  return tmpdir();
}

/**
 * @param {string} work
 * @param {string} root
 * @param {readonly string[]} packages
 */
async function bootstrap(work, root, packages) {
  const settings = [
    '--aptopt=Acquire::Languages "none"',
    '--aptopt=APT::Install-Recommends "false"',
    "--dpkgopt=force-unsafe-io",
  ];
  const command = [
    "mmdebstrap",
    "--quiet",
    "--mode=root",
    "--variant=minbase",
    "--skip=cleanup/apt/lists",
    ...settings,
  ];
  const plain = `${work}/plain.tar`;
  await run([...command, `--include=${packages.join(",")}`, suite, plain], { env: { TMPDIR: work } });
  await run(["tar", "-C", root, "--exclude=./dev/*", "-xf", plain]);
  rmSync(plain);
}

/**
 * @param {string} root
 * @param {readonly string[]} packages
 * @param {string} packageLists
 */
async function installPackages(root, packages, packageLists) {
  const install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", ...packages];
  if (existsSync(packageLists)) {
    await run(["tar", "-C", root, "-xf", packageLists]);
    // Lists that are some days old name versions that a mirror no longer has.
    if (
      await runInside(root, install).then(
        () => true,
        () => false,
      )
    )
      return;
  }
  await runInside(root, ["apt-get", "update", "-qq"]);
  await runInside(root, install);
}

/** @param {string} root */
async function emptyCaches(root) {
  for (const folder of ["var/lib/apt/lists", "var/cache/apt/archives"]) {
    rmSync(`${root}/${folder}`, { recursive: true, force: true });
    mkdirSync(`${root}/${folder}/partial`, { recursive: true });
  }
  for (const file of ["pkgcache.bin", "srcpkgcache.bin"]) rmSync(`${root}/var/cache/apt/${file}`, { force: true });
}

/**
 * @param {string} root
 * @param {string} setup
 * @param {readonly string[]} inputs
 * @param {readonly string[]} npmPackages
 */
async function runSetup(root, setup, inputs, npmPackages) {
  const folder = buildFolder(root);
  for (const file of [setup, ...inputs]) copyFileSync(`${setupFolder}${file}`, `${folder}/${file}`);
  if (npmPackages.length > 0) await run(["npm", "pack", "--silent", "--pack-destination", folder, ...npmPackages]);
  await runInside(root, ["sh", setup]);
}
