import type { Artifacts } from "../artifacts.js";

/** What a child is started as. */
export interface Launch {
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly artifacts: Artifacts;
  /** Further files that it may read. */
  readonly readable: readonly string[];
  /** Memory that the process may write to at most, in MiB: far above what its own limits allow. */
  readonly dataMiB: number;
}

/** What stands between a child and its machine, beside WebAssembly, the realm and Node's permissions. */
export interface Wall {
  readonly name: "bubblewrap" | "unshare" | "ulimit";
  /** What it takes away, in words. */
  readonly takes: string;
  /** The command that starts a command behind it; undefined where its programs are missing. */
  command(launch: Launch): readonly string[] | undefined;
}
