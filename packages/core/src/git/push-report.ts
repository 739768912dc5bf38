import { SandboxError } from "../errors.js";
import type { ExecResult } from "../exec.js";

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

/** The error for a push that the other side did not take. */
export function rejection(path: string, refs: readonly GitPushedRef[], result: ExecResult): SandboxError {
  const reasons = refs.filter((one) => one.result === "rejected").map(({ ref, reason }) => `${ref} ${reason}`);
  const words = reasons.join("; ") || result.stderr.text.trim();
  const next = "pull first, or pass force if theirs is to be replaced; a server may also forbid it";
  const code = reasons.length > 0 ? "CONFLICT" : "COMMAND_FAILED";
  return new SandboxError(code, `git.push of ${JSON.stringify(path)}: ${words}: ${next}`, {
    operation: "git.push",
    result,
  });
}
