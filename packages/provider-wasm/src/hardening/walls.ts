import { findProgram } from "./find-program.js";
import type { Launch, Wall } from "./wall.js";

/** Where the libraries of Node lie on the usual systems. */
const libraries = ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib", "/nix/store"];

/**
 * Sets limits and becomes the command: no core dumps, no files, and a last cap of memory. A Ctrl-C in a terminal reaches
 * the walls too, and is not theirs.
 */
const limits = 'trap "" INT && ulimit -c 0 && ulimit -f 0 && ulimit -d "$0" && exec "$@"';

function limited(command: readonly string[], { dataMiB }: Launch): readonly string[] | undefined {
  const shell = findProgram("sh");
  return shell === undefined ? undefined : [shell, "-c", limits, `${dataMiB * 1024}`, ...command];
}

/** Namespaces of its own, and of the file system nothing but what Node needs. */
const bubblewrap: Wall = {
  name: "bubblewrap",
  takes: "no network, no other processes, no files but Node's own",
  command(launch) {
    const program = findProgram("bwrap");
    if (!program) return undefined;
    const { artifacts, readable, command } = launch;
    const seen = [
      ...libraries,
      process.execPath,
      artifacts.directory,
      artifacts.pyodide,
      artifacts.quickjs,
      ...readable,
    ];
    return limited(
      [
        program,
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        ...["--cap-drop", "ALL"],
        ...["--hostname", "sandbox"],
        ...seen.flatMap((path) => ["--ro-bind-try", path, path]),
        // Its own: Node asks there for its memory.
        ...["--proc", "/proc"],
        ...["--dev", "/dev"],
        ...["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"],
        "--",
        ...command,
      ],
      launch,
    );
  },
};

/** Namespaces of its own; the file system stays, and is left to Node's permissions. */
const unshare: Wall = {
  name: "unshare",
  takes: "no network, no other processes",
  command(launch) {
    const program = findProgram("unshare");
    const setpriv = findProgram("setpriv");
    if (!program || !setpriv) return undefined;
    return limited(
      [
        // With the caller ends unshare, and with that the command.
        ...[setpriv, "--pdeathsig", "KILL", "--"],
        program,
        ...["--user", "--map-root-user", "--net", "--ipc", "--uts", "--pid", "--mount-proc"],
        ...["--fork", "--kill-child"],
        "--",
        setpriv,
        "--no-new-privs",
        ...["--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all"],
        "--",
        ...launch.command,
      ],
      launch,
    );
  },
};

const ulimit: Wall = {
  name: "ulimit",
  takes: "no files written, no core dumps, a cap of memory",
  command: (launch) => limited(launch.command, launch),
};

/** The strongest first. None is known for other systems than Linux. */
export const walls: readonly Wall[] = process.platform === "linux" ? [bubblewrap, unshare, ulimit] : [];

/** Whether a wall is one of the operating system's, as `hardening: "required"` asks for. */
export function isIsolating({ name }: Wall): boolean {
  return name !== "ulimit";
}
