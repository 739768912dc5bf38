import { Fields } from "./records.js";

/** What has happened to a file, on one of the two sides. */
export type GitChange =
  | "unmodified"
  | "added"
  | "modified"
  | "deleted"
  | "renamed"
  | "copied"
  | "type-changed"
  | "unmerged"
  | "untracked";

/** One file that is not as in the last commit. */
export interface GitFileStatus {
  /** Relative to the root of the repository. */
  readonly path: string;
  /** What a commit would record. */
  readonly index: GitChange;
  /** What has happened since it was added. */
  readonly worktree: GitChange;
  /** Where it was before, of one that was renamed or copied. */
  readonly from?: string | undefined;
}

/** The state of a repository. */
export interface GitStatus {
  /** Null when none is checked out (a detached HEAD). */
  readonly branch: string | null;
  /** Null before the first one. */
  readonly commit: string | null;
  /** Such as `origin/main`. */
  readonly upstream: string | null;
  /** Commits that the upstream does not have; null without one. */
  readonly ahead: number | null;
  /** Commits that only the upstream has; null without one. */
  readonly behind: number | null;
  readonly files: readonly GitFileStatus[];
  /** No file is listed. */
  readonly clean: boolean;
}

export const changes: Readonly<Record<string, GitChange>> = {
  ".": "unmodified",
  A: "added",
  M: "modified",
  D: "deleted",
  R: "renamed",
  C: "copied",
  T: "type-changed",
  U: "unmerged",
};

/** The arguments whose answer {@link parseStatus} takes. */
export const statusArgs = [
  "status",
  "--porcelain=v2",
  "--branch",
  "-z",
  "--untracked-files=all",
  "--find-renames",
  "--ahead-behind",
];

export function parseStatus(bytes: Uint8Array): GitStatus {
  const fields = new Fields(bytes, "git.status");
  const headers = new Map<string, string>();
  const files: GitFileStatus[] = [];
  while (!fields.done) {
    const record = fields.take();
    if (record.startsWith("# ")) {
      const [name = "", ...rest] = record.slice(2).split(" ");
      headers.set(name, rest.join(" "));
    } else files.push(parseFile(record, fields));
  }
  const head = headers.get("branch.head");
  const commit = headers.get("branch.oid");
  const counts = /^\+(\d+) -(\d+)$/.exec(headers.get("branch.ab") ?? "");
  return {
    branch: head === undefined || head === "(detached)" ? null : head,
    commit: commit === undefined || commit === "(initial)" ? null : commit,
    upstream: headers.get("branch.upstream") ?? null,
    ahead: counts ? Number(counts[1]) : null,
    behind: counts ? Number(counts[2]) : null,
    files,
    clean: files.length === 0,
  };
}

/** How many fields stand before the path, by the kind of record. */
const fieldsBefore: Readonly<Record<string, number>> = { "1": 8, "2": 9, u: 10 };

function parseFile(record: string, fields: Fields): GitFileStatus {
  const kind = record[0] ?? "";
  if (kind === "?") return { path: record.slice(2), index: "untracked", worktree: "untracked" };
  const before = fieldsBefore[kind];
  if (before === undefined) throw fields.unreadable(`a record of kind ${JSON.stringify(kind)}`);
  const parts = record.split(" ");
  const path = parts.slice(before).join(" ");
  if (kind === "u") return { path, index: "unmerged", worktree: "unmerged" };
  const change = (letter: string | undefined) => {
    const found = changes[letter ?? ""];
    if (found) return found;
    throw fields.unreadable(`a change ${JSON.stringify(letter)}`);
  };
  const file = { path, index: change(parts[1]?.[0]), worktree: change(parts[1]?.[1]) };
  return kind === "2" ? { ...file, from: fields.take() } : file;
}
