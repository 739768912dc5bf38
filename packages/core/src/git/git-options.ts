import * as z from "zod/mini";
import { lazily } from "../lazily.js";
import { checkWith, parts } from "../options.js";

/** Bounds of one git command. */
export interface GitRunOptions {
  /** In milliseconds; default: none. After it the call fails with `TIMEOUT`, and nothing of it runs any more. */
  readonly timeoutMs?: number | undefined;
  /** Ends the command; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A name and a password or token for a server that speaks HTTP. They go to git in the sandbox by a pipe, when and only
 * when `server` asks for them: never on a command line, in an environment or in a file.
 */
export interface GitCredentials {
  readonly username: string;
  /** Or a token. */
  readonly password: string;
  /**
   * The one server that may have them, such as `https://github.com`. `clone` takes that of its url by default; the
   * others need it said, because the address of a remote is in a file that programs in the sandbox can change.
   */
  readonly server?: string | undefined;
}

/** What commands have in common that speak with another repository. */
export interface GitRemoteOptions extends GitRunOptions {
  readonly credentials?: GitCredentials | undefined;
  /** Permits repositories in the sandbox's own files: a path, or `file://`. Default false. */
  readonly allowLocal?: boolean | undefined;
  /** Told line by line what git says while it works; of very long lines the end. */
  readonly onProgress?: ((line: string) => void) | undefined;
}

export interface GitCloneOptions extends GitRemoteOptions {
  /** Where to; default: the last part of the url, without `.git`, in `workdir`. */
  readonly path?: string | undefined;
  /** Branch or tag to check out; default: the server's. */
  readonly branch?: string | undefined;
  /** Latest commits to get; default: all. */
  readonly depth?: number | undefined;
}

export interface GitInitOptions extends GitRunOptions {
  /** Name of the first branch; default: git's own. */
  readonly branch?: string | undefined;
  /** Without working files: a repository to push to. */
  readonly bare?: boolean | undefined;
}

export interface GitAddOptions extends GitRunOptions {
  /** Files and directories, relative to `path`, exactly as named; default: every change, deletions too. */
  readonly files?: readonly string[] | undefined;
}

/** Who made a commit. */
export interface GitIdentity {
  readonly name: string;
  readonly email: string;
}

export interface GitCommitOptions extends GitRunOptions {
  readonly message: string;
  /** Author and committer; default: the `user` that git knows in the sandbox. */
  readonly author?: GitIdentity | undefined;
  /** Takes in every change of files that git knows, as if added before. */
  readonly all?: boolean | undefined;
  /** Commits even when nothing has changed; default false. */
  readonly allowEmpty?: boolean | undefined;
}

export interface GitFetchOptions extends GitRemoteOptions {
  /** Name of the remote; default `origin`. */
  readonly remote?: string | undefined;
  /** Default: every branch of the remote. */
  readonly branch?: string | undefined;
  /** Latest commits to get; default: all. */
  readonly depth?: number | undefined;
  /** Forgets branches that the remote no longer has. */
  readonly prune?: boolean | undefined;
}

export interface GitPullOptions extends GitRemoteOptions {
  /** Name of the remote; default: that of the upstream; with `branch`: `origin`. */
  readonly remote?: string | undefined;
  /** Branch of the remote; default: the upstream of the current one. Needed for another remote than the upstream's. */
  readonly branch?: string | undefined;
  /** What happens when both sides have new commits; default `ff-only`, which refuses with `CONFLICT`. */
  readonly strategy?: "ff-only" | "merge" | "rebase" | undefined;
  /** Of the commits that `merge` and `rebase` make; default: the `user` that git knows in the sandbox. */
  readonly author?: GitIdentity | undefined;
}

export interface GitPushOptions extends GitRemoteOptions {
  /** Name of the remote; default `origin`. */
  readonly remote?: string | undefined;
  /** Pushed to the branch of the same name; default: the current one. */
  readonly branch?: string | undefined;
  /** Makes the pushed branch the upstream. */
  readonly setUpstream?: boolean | undefined;
  /** Replaces what the remote has, if it is what was fetched last. */
  readonly force?: boolean | undefined;
}

export interface GitCreateBranchOptions extends GitRunOptions {
  /** Where it begins; default: the current commit. */
  readonly from?: string | undefined;
  /** Switches to it as well. */
  readonly checkout?: boolean | undefined;
}

export interface GitForceOptions extends GitRunOptions {
  /** `checkout`: changes that are not committed are lost. `deleteBranch`: so are commits that no other branch has. */
  readonly force?: boolean | undefined;
}

export interface GitDiffOptions extends GitRunOptions {
  /** What is added, against the last commit; default: what has changed since it was added. */
  readonly staged?: boolean | undefined;
  /** Against this commit. */
  readonly from?: string | undefined;
  /** From `from` to this commit, instead of to the files. */
  readonly to?: string | undefined;
  /** Only these files and directories, relative to `path`, exactly as named. */
  readonly files?: readonly string[] | undefined;
  /** Kept of the patch, half head and half tail, in bytes; default 1 MiB. */
  readonly maxOutputBytes?: number | undefined;
}

export interface GitLogOptions extends GitRunOptions {
  /** Where it begins; default: the current commit. */
  readonly from?: string | undefined;
  /** Commits at most, newest first; default 50. */
  readonly limit?: number | undefined;
  /** Only commits that changed one of these, relative to `path`, exactly as named. */
  readonly files?: readonly string[] | undefined;
}

const words = lazily(() => {
  const { noNul } = parts();
  const line = noNul.check(z.refine((text) => !/[\r\n]/.test(text), "must be one line"));
  /** What is to stand for a commit: git would read a leading dash as an option. */
  const revision = line.check(
    z.minLength(1, "must not be empty"),
    z.refine((text) => !text.startsWith("-"), "must not begin with a dash"),
  );
  /** By git's own rules for names of branches and tags, so that none can be read as something else. */
  const branch = revision.check(z.refine((text) => isRefName(text), "is no name that git allows for a branch"));
  return { noNul, line, revision, branch };
});

/** What an option of each name has to be, in whatever call it stands. */
const every = lazily(() => {
  const { callback, run } = parts();
  const { noNul, line, revision, branch } = words();
  const named = z.string().check(z.minLength(1));
  const someLine = line.check(z.minLength(1));
  const somePath = noNul.check(z.minLength(1));
  const identity = someLine.check(z.refine((text) => !/[<>]/.test(text), "must not contain < or >"));
  const count = z.int().check(z.gte(1));
  const flag = z.optional(z.boolean());
  return {
    timeoutMs: run.timeoutMs,
    signal: run.signal,
    credentials: z.optional(z.strictObject({ username: someLine, password: line, server: z.optional(named) })),
    allowLocal: flag,
    onProgress: z.optional(callback),
    path: z.optional(somePath),
    remote: z.optional(
      z.string().check(z.regex(/^[A-Za-z0-9_][A-Za-z0-9_./-]*$/, 'must be the name of a remote, such as "origin"')),
    ),
    branch: z.optional(branch),
    from: z.optional(revision),
    to: z.optional(revision),
    files: z.optional(z.array(somePath).check(z.minLength(1, "must name at least one: leave it out for all"))),
    message: noNul.check(z.refine((text) => text.trim() !== "", "must say something")),
    author: z.optional(z.strictObject({ name: identity, email: identity })),
    strategy: z.optional(z.enum(["ff-only", "merge", "rebase"])),
    depth: z.optional(count),
    limit: z.optional(count),
    maxOutputBytes: run.maxOutputBytes,
    bare: flag,
    all: flag,
    allowEmpty: flag,
    prune: flag,
    setUpstream: flag,
    force: flag,
    checkout: flag,
    staged: flag,
  };
});
type Name = keyof ReturnType<typeof every>;

/** What one call takes: every member of its options, and no other. */
function taking<Options>(names: Readonly<Record<keyof Options & Name, true>>): () => z.ZodMiniType<Options> {
  return lazily(() => {
    const taken = Object.entries(every()).filter(([name]) => name in names);
    return z.strictObject(Object.fromEntries(taken)) as unknown as z.ZodMiniType<Options>;
  });
}

const bounds = { timeoutMs: true, signal: true } as const;
const far = { ...bounds, credentials: true, allowLocal: true, onProgress: true } as const;

const difference = taking<GitDiffOptions>({
  ...bounds,
  ...{ staged: true, from: true, to: true, files: true, maxOutputBytes: true },
});

const schemas = {
  branch: () => words().branch,
  revision: () => words().revision,
  run: taking<GitRunOptions>(bounds),
  clone: taking<GitCloneOptions>({ ...far, path: true, branch: true, depth: true }),
  init: taking<GitInitOptions>({ ...bounds, branch: true, bare: true }),
  add: taking<GitAddOptions>({ ...bounds, files: true }),
  commit: taking<GitCommitOptions>({ ...bounds, message: true, author: true, all: true, allowEmpty: true }),
  fetch: taking<GitFetchOptions>({ ...far, remote: true, branch: true, depth: true, prune: true }),
  pull: taking<GitPullOptions>({ ...far, remote: true, branch: true, strategy: true, author: true }),
  push: taking<GitPushOptions>({ ...far, remote: true, branch: true, setUpstream: true, force: true }),
  createBranch: taking<GitCreateBranchOptions>({ ...bounds, from: true, checkout: true }),
  force: taking<GitForceOptions>({ ...bounds, force: true }),
  diff: lazily(() =>
    difference().check(
      z.refine(({ from, to }) => to === undefined || from !== undefined, '"to" needs "from"'),
      z.refine(({ staged, to }) => !staged || to === undefined, '"staged" and "to" exclude each other'),
    ),
  ),
  log: taking<GitLogOptions>({ ...bounds, from: true, limit: true, files: true }),
};

/**
 * Checks arguments of a git call at the public border.
 * @throws SandboxError `INVALID`, naming each that is wrong or unknown
 */
export function checkGit(schema: keyof typeof schemas, operation: string, value: unknown): void {
  checkWith(schemas[schema](), operation, value);
}

/** The rules of git-check-ref-format(1). */
function isRefName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^\/|[/.]$|^@$/.test(name)) return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}
