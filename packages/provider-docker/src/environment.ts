import { home } from "./workspace.js";

/** Made when missing: tools that keep something expect these. */
export const directories: readonly string[] = [home, `${home}/.local/bin`, `${home}/.cache`, `${home}/.config/git`];

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
