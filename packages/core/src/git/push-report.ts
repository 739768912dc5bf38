/** What a push did to one ref of the remote. */
export interface GitPushedRef {
  /** Such as `refs/heads/main`. */
  readonly ref: string;
  readonly result: "created" | "updated" | "forced" | "deleted" | "unchanged" | "rejected";
  /** Why it was rejected, in the words of git or of the server. */
  readonly reason?: string | undefined;
}

const results: Readonly<Record<string, GitPushedRef["result"]>> = {
  "*": "created",
  " ": "updated",
  "+": "forced",
  "-": "deleted",
  "=": "unchanged",
  "!": "rejected",
};

/** Reads what `git push --porcelain` writes: `FLAG TAB FROM:TO TAB SUMMARY (REASON)`. */
export function parsePush(text: string): GitPushedRef[] {
  return text.split("\n").flatMap((line) => {
    const [flag = "", refs = "", summary = ""] = line.split("\t");
    const result = results[flag];
    if (!result || !refs.includes(":")) return [];
    const ref = refs.slice(refs.indexOf(":") + 1);
    return [result === "rejected" ? { ref, result, reason: summary } : { ref, result }];
  });
}
