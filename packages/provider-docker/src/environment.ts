import type { SandboxRecord } from "./labels.js";
import { home } from "./workspace.js";

/** Made when missing: tools that keep something expect these. */
const directories: readonly string[] = [home, `${home}/.local/bin`, `${home}/.cache`, `${home}/.config/git`];

/**
 * The same for one sandbox. With packages of npm above all of its directories, npm takes those for the project: each
 * place where one can be has an empty directory of its own then, wherever npm may have a network.
 */
export function directoriesOf({ workdir, packages = [], egress }: SandboxRecord): readonly string[] {
  if (!egress || !packages.some((each) => each.startsWith("npm:"))) return directories;
  return [...directories, ...[workdir, "/app", "/tmp"].map((place) => `${place}/node_modules`)];
}

/** Where nothing is: pip and npm show it to who asks them for what they cannot get, and need no time for it. */
const noIndex = "http://127.0.0.1:1/sandbox-without-network/create-it-with-option-packages-or-network-packages/";

/** What pip and npm are told in a sandbox that has no network. */
export const offlineEnvironment = {
  PIP_INDEX_URL: noIndex,
  PIP_RETRIES: "0",
  npm_config_registry: noIndex,
  npm_config_fetch_retries: "0",
} as const;

/** Read by git below all other settings of the user, so that `git config` of any kind goes before it. */
export const gitConfig = {
  path: `${home}/.config/git/config`,
  content:
    "[user]\n\tname = sandbox\n\temail = sandbox@localhost\n[safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n",
};

/** What older Node needs to go through a proxy. */
export const preloadPath = `${home}/.config/sandkit/through-proxy.cjs`;

const libraryThreads = [
  "OMP_NUM_THREADS",
  "OPENBLAS_NUM_THREADS",
  "MKL_NUM_THREADS",
  "NUMEXPR_NUM_THREADS",
  "GOMAXPROCS",
];

/**
 * What makes tools work as a user without a home in the image, on a read-only root, with fewer processors than the
 * machine shows.
 * @param image The image's own environment, as `NAME=value`.
 */
export function toolEnvironment(image: readonly string[], cpus: number): Record<string, string> {
  const own = Object.fromEntries(image.map((entry) => splitOnce(entry, "=")));
  const path = own.PATH ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  const threads = String(Math.max(1, Math.ceil(cpus)));
  return {
    HOME: home,
    USER: "sandbox",
    LOGNAME: "sandbox",
    LANG: own.LANG ?? "C.UTF-8",
    PATH: `${home}/.local/bin:${home}/go/bin:${home}/.cargo/bin:${path}`,
    TMPDIR: "/tmp",
    XDG_CACHE_HOME: `${home}/.cache`,
    XDG_CONFIG_HOME: `${home}/.config`,
    XDG_DATA_HOME: `${home}/.local/share`,
    PYTHONUSERBASE: `${home}/.local`,
    // Debian refuses to install beside its own packages; here they are read-only anyway.
    PIP_BREAK_SYSTEM_PACKAGES: "1",
    // What pip keeps for a second installation would take memory for nothing.
    PIP_NO_CACHE_DIR: "1",
    PIP_DISABLE_PIP_VERSION_CHECK: "1",
    MPLCONFIGDIR: `${home}/.config/matplotlib`,
    MPLBACKEND: "agg",
    npm_config_cache: `${home}/.npm`,
    npm_config_prefix: `${home}/.local`,
    npm_config_update_notifier: "false",
    GOPATH: `${home}/go`,
    GOCACHE: `${home}/.cache/go-build`,
    CARGO_HOME: `${home}/.cargo`,
    ...Object.fromEntries(libraryThreads.map((name) => [name, threads])),
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
