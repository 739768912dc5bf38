import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { run } from "./run.mjs";

/** Where programs inside find what they are to read, and work. */
const inside = "/tmp/build";
const certificates = "/etc/ssl/certs/ca-certificates.crt";
/** What a program inside may know of this machine: how to reach the package registries. */
const passed = ["http_proxy", "https_proxy", "no_proxy", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_DEFAULT_TIMEOUT"];

/**
 * Runs a program in a root folder, with `/proc` and `/dev` there as long as it runs.
 * @param {string} root
 * @param {readonly string[]} command
 */
export async function runInside(root, command) {
  const build = `${root}${inside}`;
  mkdirSync(build, { recursive: true });
  copyFileSync("/etc/resolv.conf", `${root}/etc/resolv.conf`);
  const known = passed.flatMap((name) => (process.env[name] ? [`${name}=${process.env[name]}`] : []));
  if (existsSync(certificates)) {
    copyFileSync(certificates, `${build}/certificates.crt`);
    known.push(`PIP_CERT=${inside}/certificates.crt`);
  }
  if (existsSync("/etc/pip.conf")) {
    copyFileSync("/etc/pip.conf", `${build}/pip.conf`);
    known.push(`PIP_CONFIG_FILE=${inside}/pip.conf`);
  }
  const env = ["PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=/root"];
  env.push("DEBIAN_FRONTEND=noninteractive", "PIP_DISABLE_PIP_VERSION_CHECK=1", ...known);
  // The mounts are in a namespace of their own: they end with it, whatever happens.
  const mounts =
    'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && root=$1 && shift && exec chroot "$root" "$@"';
  const enter = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mounts, "sh", root];
  await run([...enter, "env", "-i", "-C", inside, ...env, ...command]);
}

/**
 * The folder of the machine that programs inside start in.
 * @param {string} root
 */
export function buildFolder(root) {
  mkdirSync(`${root}${inside}`, { recursive: true });
  return `${root}${inside}`;
}

/**
 * Takes away what only the building needed.
 * @param {string} root
 */
export function leaveInside(root) {
  rmSync(`${root}${inside}`, { recursive: true, force: true });
}
