import { SandboxError } from "../errors.js";
import { branchesArgs, type GitBranch, parseBranches } from "./branches.js";
import { clone } from "./clone.js";
import { diffListArgs, type GitDiff, parseDiff, patchArgs } from "./diff.js";
import { explainConflict, explainNoCommit, explainPush, explainRemote } from "./explain-failure.js";
import {
  checkGit,
  type GitAddOptions,
  type GitCloneOptions,
  type GitCommitOptions,
  type GitCreateBranchOptions,
  type GitDiffOptions,
  type GitFetchOptions,
  type GitForceOptions,
  type GitIdentity,
  type GitInitOptions,
  type GitLogOptions,
  type GitPullOptions,
  type GitPushOptions,
  type GitRunOptions,
} from "./git-options.js";
import { type GitCommit, logArgs, parseLog } from "./log.js";
import { type GitPushedRef, parsePush } from "./push-report.js";
import { parseServer } from "./remote-url.js";
import { type GitCommand, type GitOwner, GitRunner } from "./run-git.js";
import { type GitStatus, parseStatus, statusArgs } from "./status.js";

/**
 * git in a sandbox: the program that the box has, with its answers as data. Paths of repositories are relative to
 * `workdir`; a path in one stands for the whole of it; any file name works. All members throw `SandboxError`:
 * `UNSUPPORTED` where the box has no git; `FILE_NOT_FOUND` for a path that does not exist; `NOT_FOUND` for what is no
 * repository, or a branch or commit that is not there; `CONFLICT` for what would lose work; `AUTH`; `UNAVAILABLE` for
 * a server that cannot be reached; `INVALID` for arguments that git could take for something else; `TIMEOUT`;
 * `COMMAND_FAILED` with git's words for the rest.
 */
export class Git {
  readonly #git: GitRunner;

  /** For core alone. */
  constructor(owner: GitOwner) {
    this.#git = new GitRunner(owner);
  }

  /**
   * Copies a repository into the sandbox, and tells where it is. Nothing is left of one that fails. Submodules are not
   * fetched, and files of LFS stay pointers.
   * @throws SandboxError `CONFLICT` when something is at the path already
   */
  async clone(url: string, options: GitCloneOptions = {}): Promise<{ readonly path: string }> {
    return { path: await clone(this.#git, url, options) };
  }

  /** Makes an empty repository; the directory is made. Content with one that is there. */
  async init(path = ".", options: GitInitOptions = {}): Promise<{ readonly path: string }> {
    const operation = "git.init";
    checkGit("init", operation, options);
    const cwd = this.#git.place(path, operation);
    const { branch, bare } = options;
    const flags = [...(bare ? ["--bare"] : []), ...(branch === undefined ? [] : [`--initial-branch=${branch}`])];
    const args = ["init", "--quiet", ...flags, "--", cwd];
    await this.#git.run({ operation, subject: path, args, cwd: this.#git.workdir, options });
    return { path: cwd };
  }

  /** The branch, its upstream, and every file that is not as in the last commit. */
  async status(path = ".", options: GitRunOptions = {}): Promise<GitStatus> {
    const result = await this.#run("git.status", path, "run", options, statusArgs);
    return parseStatus(result.stdout.bytes);
  }

  /** Puts changes into the next commit: those of `files`, by default all. @throws SandboxError `NOT_FOUND` */
  async add(path = ".", options: GitAddOptions = {}): Promise<void> {
    const { files } = options;
    const args = ["--literal-pathspecs", "add", "--all", ...(files ? ["--", ...files] : [])];
    await this.#run("git.add", path, "add", options, args);
  }

  /**
   * Commits what was added.
   * @throws SandboxError `INVALID` when git knows no author; `COMMAND_FAILED` when there is nothing to commit
   */
  async commit(path: string, options: GitCommitOptions): Promise<{ readonly commit: string }> {
    const operation = "git.commit";
    checkGit("commit", operation, options);
    const cwd = this.#git.place(path, operation);
    const { message, author, all, allowEmpty } = options;
    const flags = [...(all ? ["--all"] : []), ...(allowEmpty ? ["--allow-empty"] : [])];
    const args = ["commit", "--quiet", "--cleanup=whitespace", "--file=-", ...flags];
    const command = { operation, subject: path, cwd, options: bounds(options), args };
    try {
      await this.#git.run({ ...command, stdin: message, env: identity(author) });
    } catch (error) {
      throw await explainNoCommit(this.#git, command, error);
    }
    return { commit: await this.#head(command) };
  }

  /** Learns what a remote has, and changes no file. */
  async fetch(path = ".", options: GitFetchOptions = {}): Promise<void> {
    const operation = "git.fetch";
    checkGit("fetch", operation, options);
    await this.#fetch(operation, path, this.#git.place(path, operation), options);
  }

  /**
   * Fetches and takes over what the remote has. Tells the current commit, and whether it is another one than before.
   * @throws SandboxError `CONFLICT` when both sides have new commits, or the same lines changed: then the files say so,
   * and `status` lists them as unmerged; `INVALID` without `branch`, when the current branch follows none of `remote`
   */
  async pull(
    path = ".",
    options: GitPullOptions = {},
  ): Promise<{ readonly commit: string; readonly updated: boolean }> {
    const operation = "git.pull";
    checkGit("pull", operation, options);
    const cwd = this.#git.place(path, operation);
    const bounded = bounds(options);
    const { branch, remote, strategy = "ff-only", author } = options;
    const args = [...takeOver[strategy], "--quiet", branch === undefined ? "@{upstream}" : "FETCH_HEAD"];
    const command = { operation, subject: path, cwd, options: bounded, args };
    const [before, upstream] = await Promise.all([
      this.#git.run({ ...command, args: headArgs, expect: [0, 1] }),
      branch === undefined ? this.#upstreamRemote(command) : undefined,
    ]);
    if (branch === undefined && remote !== undefined && remote !== upstream) {
      const follows = upstream === undefined ? "no branch of a remote" : `a branch of ${JSON.stringify(upstream)}`;
      const why = `the current branch follows ${follows}: pass the branch of ${JSON.stringify(remote)} too`;
      throw new SandboxError("INVALID", `${operation} of ${JSON.stringify(path)}: ${why}`, { operation });
    }
    // A branch that follows another one here has nothing to fetch.
    if (upstream !== here) await this.#fetch(operation, path, cwd, { ...bounded, remote: remote ?? upstream });
    // Not by `git pull`: what the repository would start while it merges is to have no way to the credentials.
    try {
      await this.#git.run({ ...command, env: identity(author) });
    } catch (error) {
      throw await explainConflict(this.#git, command, error);
    }
    const commit = await this.#head(command);
    return { commit, updated: commit !== before.stdout.text.trim() };
  }

  /**
   * Sends a branch to a remote.
   * @throws SandboxError `CONFLICT` when the remote has commits that are not here, or refuses
   */
  async push(path = ".", options: GitPushOptions = {}): Promise<{ readonly refs: readonly GitPushedRef[] }> {
    const operation = "git.push";
    checkGit("push", operation, options);
    const cwd = this.#git.place(path, operation);
    const { remote = "origin", branch, setUpstream, force } = options;
    const args = [
      ...["push", "--porcelain", "--no-recurse-submodules", options.onProgress ? "--progress" : "--no-progress"],
      ...[...(setUpstream ? ["--set-upstream"] : []), ...(force ? ["--force-with-lease"] : [])],
      ...["--", remote, branch === undefined ? "HEAD" : `refs/heads/${branch}:refs/heads/${branch}`],
    ];
    const server = serverOf(options, operation);
    const command = { operation, subject: path, cwd, options, args, server };
    try {
      const result = await this.#git.runRemote(command);
      return { refs: parsePush(result.stdout.text) };
    } catch (error) {
      throw await explainRemote(this.#git, command, remote, explainPush(command, error));
    }
  }

  /** The branches here, and those of remotes as last fetched. */
  async branches(path = ".", options: GitRunOptions = {}): Promise<GitBranch[]> {
    const result = await this.#run("git.branches", path, "run", options, branchesArgs);
    return parseBranches(result.stdout.bytes);
  }

  /** Makes a branch, and with `checkout` switches to it. @throws SandboxError `CONFLICT` when it exists */
  async createBranch(path: string, name: string, options: GitCreateBranchOptions = {}): Promise<void> {
    checkGit("branch", "git.createBranch name", name);
    const { from, checkout } = options;
    const begin = from === undefined ? [] : [from];
    const args = checkout ? ["checkout", "--quiet", "-b", name, ...begin, "--"] : ["branch", name, ...begin];
    await this.#run("git.createBranch", path, "createBranch", options, args);
  }

  /** Removes a branch here; the remote keeps its own. @throws SandboxError `CONFLICT` when commits would be lost */
  async deleteBranch(path: string, name: string, options: GitForceOptions = {}): Promise<void> {
    checkGit("branch", "git.deleteBranch name", name);
    const args = ["branch", "--quiet", options.force ? "-D" : "-d", "--", name];
    await this.#run("git.deleteBranch", path, "force", options, args);
  }

  /**
   * Switches to a branch or a commit. A branch that only one remote has is made here.
   * @throws SandboxError `CONFLICT` when changes that are not committed would be lost
   */
  async checkout(path: string, name: string, options: GitForceOptions = {}): Promise<void> {
    checkGit("revision", "git.checkout name", name);
    const args = ["checkout", "--quiet", ...(options.force ? ["--force"] : []), name, "--"];
    await this.#run("git.checkout", path, "force", options, args);
  }

  /** What has changed, as a list and as a patch. Files that git does not know are in `status` alone. */
  async diff(path = ".", options: GitDiffOptions = {}): Promise<GitDiff> {
    const operation = "git.diff";
    checkGit("diff", operation, options);
    const cwd = this.#git.place(path, operation);
    const { staged, from, to, files, maxOutputBytes = 1024 * 1024 } = options;
    const revisions = [from, to].filter((one) => one !== undefined);
    const what = ["--no-ext-diff", "--no-textconv", "--find-renames", "--no-relative", ...(staged ? ["--cached"] : [])];
    const rest = [...what, ...revisions, "--", ...(files ?? [])];
    const command = { operation, subject: path, cwd, options: bounds(options) };
    const base = ["--literal-pathspecs", "diff"];
    const [list, patch] = await Promise.all([
      this.#git.run({ ...command, args: [...base, ...diffListArgs, ...rest] }),
      this.#git.run({ ...command, args: [...base, ...patchArgs, ...rest], maxOutputBytes, mayBeCut: true }),
    ]);
    return { files: parseDiff(list.stdout.bytes), patch: patch.stdout };
  }

  /** Commits, newest first. */
  async log(path = ".", options: GitLogOptions = {}): Promise<GitCommit[]> {
    const operation = "git.log";
    checkGit("log", operation, options);
    const cwd = this.#git.place(path, operation);
    const { from, limit = 50, files = [] } = options;
    const command = { operation, subject: path, cwd, options: bounds(options) };
    if (from === undefined && (await this.#git.run({ ...command, args: headArgs, expect: [0, 1] })).exitCode === 1) {
      return [];
    }
    const args = ["--literal-pathspecs", ...logArgs, `--max-count=${limit}`, from ?? "HEAD", "--", ...files];
    return parseLog((await this.#git.run({ ...command, args })).stdout.bytes);
  }

  async #run(
    operation: string,
    path: string,
    schema: Parameters<typeof checkGit>[0],
    options: GitRunOptions,
    args: readonly string[],
  ) {
    checkGit(schema, operation, options);
    return this.#git.run({ operation, subject: path, args, cwd: this.#git.place(path, operation), options });
  }

  async #fetch(operation: string, path: string, cwd: string, options: GitFetchOptions): Promise<void> {
    const { remote = "origin", branch, depth, prune } = options;
    const args = [
      // The one hook that a fetch runs is a program of the repository's.
      ...["-c", "core.hooksPath=/dev/null", "fetch", "--no-recurse-submodules"],
      ...[options.onProgress ? "--progress" : "--quiet", ...(prune ? ["--prune"] : [])],
      ...(depth === undefined ? [] : [`--depth=${depth}`]),
      ...["--", remote, ...(branch === undefined ? [] : [`refs/heads/${branch}`])],
    ];
    const command = { operation, subject: path, args, cwd, options, server: serverOf(options, operation) };
    try {
      await this.#git.runRemote(command);
    } catch (error) {
      throw await explainRemote(this.#git, command, remote, error);
    }
  }

  /** Of the upstream of the current branch; undefined without one. */
  async #upstreamRemote(command: Omit<GitCommand, "args">): Promise<string | undefined> {
    const args = ["for-each-ref", "--format=%(HEAD)%(upstream:remotename)", "refs/heads"];
    const { stdout } = await this.#git.run({ ...command, args });
    const current = stdout.text.split("\n").find((line) => line.startsWith("*"));
    return current?.slice(1) || undefined;
  }

  async #head(command: Omit<GitCommand, "args">): Promise<string> {
    return (await this.#git.run({ ...command, args: headArgs })).stdout.text.trim();
  }
}

/** How what was fetched becomes part of the current branch. */
const takeOver: Readonly<Record<NonNullable<GitPullOptions["strategy"]>, readonly string[]>> = {
  "ff-only": ["merge", "--ff-only"],
  merge: ["merge", "--ff", "--no-edit"],
  rebase: ["rebase"],
};
/** What git calls the repository itself, as a remote. */
const here = ".";
const headArgs = ["rev-parse", "--verify", "--quiet", "HEAD"];

/** The bounds of a call that takes several commands: each has what the ones before have left. */
function bounds<Options extends GitRunOptions>(options: Options): Options {
  const { timeoutMs } = options;
  if (timeoutMs === undefined) return options;
  const end = performance.now() + timeoutMs;
  return Object.defineProperty({ ...options }, "timeoutMs", { get: () => Math.max(1, end - performance.now()) });
}

function identity(author: GitIdentity | undefined): Record<string, string> {
  if (!author) return {};
  const { name, email } = author;
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}

/** Of credentials for a remote: its address in the repository is none that can be trusted. */
function serverOf({ credentials }: GitFetchOptions, operation: string): string | undefined {
  return credentials?.server === undefined ? undefined : parseServer(credentials.server, operation);
}
