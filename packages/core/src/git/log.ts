import type { GitIdentity } from "./git-options.js";
import { Fields } from "./records.js";

/** Who did something, and when. */
export interface GitSignature extends GitIdentity {
  readonly date: Date;
}

/** One commit. */
export interface GitCommit {
  readonly commit: string;
  readonly parents: readonly string[];
  readonly author: GitSignature;
  readonly committer: GitSignature;
  /** Whole, without the line end. */
  readonly message: string;
}

/** The arguments whose answer {@link parseLog} takes. */
export const logArgs = [
  "log",
  "-z",
  "--no-show-signature",
  "--no-notes",
  "--no-follow",
  "--no-color",
  "--encoding=UTF-8",
  "--format=tformat:%H%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B",
];

export function parseLog(bytes: Uint8Array): GitCommit[] {
  const fields = new Fields(bytes, "git.log");
  const commits: GitCommit[] = [];
  while (!fields.done) {
    const commit = fields.take();
    const parents = fields.take().split(" ").filter(Boolean);
    const [author, committer] = [takeSignature(fields), takeSignature(fields)];
    commits.push({ commit, parents, author, committer, message: fields.take().replace(/\n+$/, "") });
  }
  return commits;
}

function takeSignature(fields: Fields): GitSignature {
  return { name: fields.take(), email: fields.take(), date: new Date(Number(fields.take()) * 1000) };
}
