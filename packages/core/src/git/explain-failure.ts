import { type ErrorCode, SandboxError } from "../errors.js";
import { parsePush } from "./push-report.js";
import type { GitCommand, GitRunner } from "./run-git.js";
import { parseStatus, statusArgs } from "./status.js";

/**
 * What a failure means is better asked of the repository than read from words. Each of these gives the error that it
 * was given, or one that says more.
 */
type Explain = (git: GitRunner, command: GitCommand, error: unknown) => Promise<unknown>;

/** A commit that was not made, perhaps because there is nothing to commit. */
export const explainNoCommit: Explain = async (git, command, error) => {
  if (exitCodeOf(error) !== 1) return error;
  const args = ["diff", "--cached", "--quiet", "--no-ext-diff"];
  const { exitCode } = await git.run({ ...command, args, stdin: undefined, expect: [0, 1] });
  if (exitCode === 1) return error;
  const why = "nothing was added since the last commit: add first, or pass all or allowEmpty";
  return refined(command, error, "COMMAND_FAILED", why);
};

/** A merge or rebase that did not come to its end, perhaps because both sides changed the same lines. */
export const explainConflict: Explain = async (git, command, error) => {
  if (exitCodeOf(error) !== 1) return error;
  const { files } = parseStatus((await git.run({ ...command, args: statusArgs })).stdout.bytes);
  const unmerged = files.filter(({ index }) => index === "unmerged").map(({ path }) => path);
  if (unmerged.length === 0) return error;
  const next = "settle them, add and commit; or give up with exec: git merge --abort, git rebase --abort";
  return refined(command, error, "CONFLICT", `both sides changed ${unmerged.join(", ")}: ${next}`);
};

/** A remote that could not be used, perhaps because there is none of that name: git takes it for a path then. */
export async function explainRemote(
  git: GitRunner,
  command: GitCommand,
  remote: string,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof SandboxError) || (error.code !== "INVALID" && error.code !== "NOT_FOUND")) return error;
  if (!error.result) return error;
  const asked = await git.run({ ...command, args: ["remote", "get-url", remote], expect: [0, 2, 128] });
  if (asked.exitCode !== 2) return error;
  const why = `the repository has no remote "${remote}": add it with exec: git remote add`;
  return refined(command, error, "NOT_FOUND", why);
}

/** A push that failed, perhaps because the other side did not take it. */
export function explainPush(command: GitCommand, error: unknown): unknown {
  if (!(error instanceof SandboxError) || !error.result) return error;
  const rejected = parsePush(error.result.stdout.text).filter(({ result }) => result === "rejected");
  if (rejected.length === 0) return error;
  const reasons = rejected.map(({ ref, reason }) => `${ref} ${reason}`).join("; ");
  const next = "pull first, or pass force if theirs is to be replaced; a server may also forbid it";
  return refined(command, error, "CONFLICT", `${reasons}: ${next}`);
}

function exitCodeOf(error: unknown): number | null | undefined {
  return error instanceof SandboxError ? error.result?.exitCode : undefined;
}

function refined({ operation, subject }: GitCommand, error: unknown, code: ErrorCode, why: string): SandboxError {
  const known = error instanceof SandboxError ? error : undefined;
  return new SandboxError(code, `${operation} of ${JSON.stringify(subject)}: ${why}`, {
    provider: known?.provider,
    sandboxId: known?.sandboxId,
    operation,
    result: known?.result,
    cause: error,
  });
}
