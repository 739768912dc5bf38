import type { Captured } from "../exec.js";
import { Fields } from "./records.js";
import { changes, type GitChange } from "./status.js";

/** What has changed in one file. */
export interface GitFileDiff {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly change: GitChange;
  /** Where it was before, of one that was renamed or copied. */
  readonly from?: string | undefined;
  /** Lines; null for a binary file. */
  readonly additions: number | null;
  readonly deletions: number | null;
}

/** The difference between two states of a repository. */
export interface GitDiff {
  readonly files: readonly GitFileDiff[];
  /** As `git diff` writes it, cut in the middle above `maxOutputBytes`. Of a binary file it says only that it differs. */
  readonly patch: Captured;
}

/** The arguments whose answer {@link parseDiff} takes. */
export const diffListArgs = ["--raw", "--numstat", "-z"];
/** What makes a patch the same whatever is configured. */
export const patchArgs = ["--patch", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"];

/** First come the changes, `:MODE MODE ID ID LETTER`, then the counts in the same order. */
export function parseDiff(bytes: Uint8Array): GitFileDiff[] {
  const fields = new Fields(bytes, "git.diff");
  const files: Omit<GitFileDiff, "additions" | "deletions">[] = [];
  while (fields.next.startsWith(":")) {
    const letter = fields.take().split(" ")[4]?.[0] ?? "";
    const change = changes[letter];
    if (!change) throw fields.unreadable(`a change ${JSON.stringify(letter)}`);
    const first = fields.take();
    files.push(
      letter === "R" || letter === "C" ? { path: fields.take(), change, from: first } : { path: first, change },
    );
  }
  const counts = new Map<string, readonly [number | null, number | null]>();
  while (!fields.done) {
    const [added = "", deleted = "", ...rest] = fields.take().split("\t");
    let path = rest.join("\t");
    if (path === "") {
      fields.take();
      path = fields.take();
    }
    counts.set(path, [count(added), count(deleted)]);
  }
  return files.map((file) => {
    const [additions = null, deletions = null] = counts.get(file.path) ?? [];
    return { ...file, additions, deletions };
  });
}

function count(text: string): number | null {
  return text === "-" ? null : Number(text);
}
