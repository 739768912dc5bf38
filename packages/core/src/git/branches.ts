/** One branch, of the repository or of what was fetched from a remote. */
export interface GitBranch {
  /** `main`; of a remote: `origin/main`. */
  readonly name: string;
  readonly remote: boolean;
  /** It is checked out. */
  readonly current: boolean;
  readonly commit: string;
  /** What it follows, such as `origin/main`. */
  readonly upstream: string | null;
}

const format = ["%(refname)", "%(symref)", "%(objectname)", "%(upstream:short)", "%(HEAD)"].join("%00");

/** The arguments whose answer {@link parseBranches} takes. Names of refs have no line ends. */
export const branchesArgs = ["for-each-ref", `--format=${format}`, "refs/heads/", "refs/remotes/"];

export function parseBranches(bytes: Uint8Array): GitBranch[] {
  const lines = new TextDecoder().decode(bytes).split("\n").slice(0, -1);
  return lines.flatMap((line) => {
    const [ref = "", symbolic, commit = "", upstream = "", head] = line.split("\0");
    // `origin/HEAD` is no branch, it points to one.
    if (symbolic !== "") return [];
    const remote = ref.startsWith("refs/remotes/");
    const name = ref.replace(/^refs\/(heads|remotes)\//, "");
    return [{ name, remote, current: head === "*", commit, upstream: upstream || null }];
  });
}
