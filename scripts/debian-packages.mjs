import { runCommand } from "./run-command.mjs";
import { wait } from "./set-up.mjs";

/** Whether this program may install Debian's packages without a question. */
export async function canInstall() {
  return process.getuid?.() === 0 && (await runCommand(["apt-get", "--version"])).code === 0;
}

/** Whether somebody has asked for what tests need to be installed. */
export const isSetUpWanted = Boolean(process.env.CI) || process.env.SANDKIT_SETUP === "1";

let listsAreNew = false;

/**
 * Installs what is missing.
 * @param {Readonly<Record<string, string>>} packages Name of a package by its program.
 */
export async function installMissing(packages) {
  const missing = [];
  for (const [program, name] of Object.entries(packages)) {
    // Not all know the option; only what is not there cannot be run at all.
    if ((await runCommand([program, "--version"])).code === 127) missing.push(name);
  }
  if (missing.length === 0) return;
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", ...missing];
  if (!listsAreNew) await wait("updating the package lists (apt-get update)", ["apt-get", "update", "-qq"]);
  listsAreNew = true;
  await wait(`installing ${missing.join(" and ")} (apt-get)`, install, { env });
}
