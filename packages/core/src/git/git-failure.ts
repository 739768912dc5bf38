import { type ErrorCode, SandboxError } from "../errors.js";
import type { ExecResult } from "../exec.js";

/** What a failed command was about. */
export interface GitSubject {
  readonly operation: string;
  /** The path of the repository, or what was cloned. */
  readonly subject: string;
  readonly provider: string;
  readonly sandboxId: string;
  /** Whether credentials were given. */
  readonly credentials: boolean;
}

/** What git says, what kind of failure that is, and what to do about it. */
type Kind = readonly [said: RegExp, code: ErrorCode, next: string | ((subject: GitSubject) => string)];

const login = ({ credentials }: GitSubject) =>
  credentials
    ? "check the credentials, and that their server is the one of the repository"
    : "the server wants a login: pass credentials";
const takeAnother = "name one that exists";
const connect = 'check the address, and that the option "network" of the sandbox permits it';
const keys = "ssh needs a key and known hosts in the sandbox: use https with credentials";

/**
 * git has one exit code for nearly everything: what is left is its words, which do not change with the locale that it
 * is started in. Only lines of its own count, never those that a server sends.
 */
const kinds: readonly Kind[] = [
  [/^fatal: Authentication failed for /im, "AUTH", login],
  [/^fatal: could not read (username|password) for /im, "AUTH", login],
  [/the requested URL returned error: (401|403)/i, "AUTH", login],
  [/^(host key verification failed|.*permission denied \(publickey)/im, "AUTH", keys],
  [/^fatal: repository '.*' not found/ims, "NOT_FOUND", "check its address; private ones may need credentials"],
  [/^fatal: not a git repository/im, "NOT_FOUND", "clone or init one there first"],
  [/^fatal: repository '.*' does not exist/ims, "NOT_FOUND", takeAnother],
  [/^fatal: .* does not appear to be a git repository/ims, "NOT_FOUND", takeAnother],
  [/^(fatal|error): remote branch .* not found/ims, "NOT_FOUND", takeAnother],
  [/^(fatal|error): (couldn't find remote ref|src refspec .* does not match)/ims, "NOT_FOUND", takeAnother],
  [/^(fatal|error): pathspec '.*' did not match/ims, "NOT_FOUND", takeAnother],
  [/^(fatal|error): (bad revision|invalid reference|not a valid object name)/im, "NOT_FOUND", takeAnother],
  [/^(fatal|error): branch '.*' not found/ims, "NOT_FOUND", takeAnother],
  [/^fatal: destination path '.*' already exists/ims, "CONFLICT", "clone to another path, or empty that one"],
  [/^fatal: a branch named '.*' already exists/ims, "CONFLICT", "check it out, or take another name"],
  [/^error: .* would be overwritten by /ims, "CONFLICT", "commit these changes first, or give them up"],
  [
    /^fatal: not possible to fast-forward/im,
    "CONFLICT",
    'both sides have new commits: pull with strategy "merge" or "rebase"',
  ],
  [/^error: the branch '.*' is not fully merged/ims, "CONFLICT", "merge it, or pass force"],
  [/^error: cannot delete branch '.*' (checked out|used by)/ims, "CONFLICT", "check out another first"],
  [/^error: \w+ is not possible because you have unmerged files/im, "CONFLICT", "settle these, add and commit them"],
  [/^error: cannot (rebase|pull with rebase): /im, "CONFLICT", "commit the changes first, or give them up"],
  [
    /^(fatal|error): (unable to auto-detect email address|empty ident name|no email was given)/im,
    "INVALID",
    "pass author, or set user.name and user.email in the sandbox",
  ],
  [
    /^fatal: (no upstream configured|no such branch: '@\{u|HEAD does not point to a branch)/im,
    "INVALID",
    "pass branch",
  ],
  [/^error: the destination you provided is not a full refname/im, "INVALID", "no branch is checked out: pass branch"],
  [
    /^fatal: transport '.*' not allowed/im,
    "INVALID",
    "addresses are https, http, ssh or git; allowLocal permits the sandbox's own files",
  ],
  [
    /could not resolve host|failed to connect to|unable to connect to|connection (refused|timed out)/i,
    "UNAVAILABLE",
    connect,
  ],
];

/** The error for a command of git that did not end well. */
export function gitFailure(result: ExecResult, said: string, subject: GitSubject): SandboxError {
  const { operation, provider, sandboxId } = subject;
  const details = { operation, provider, sandboxId, result };
  if (result.reason === "exited" && (result.exitCode === 127 || result.exitCode === 126)) {
    const message = `${operation} needs the program git, which cannot be started in this sandbox`;
    return new SandboxError("UNSUPPORTED", `${message}: start it from an image that has it`, details);
  }
  const own = endsOf(said).replace(/^remote:.*$/gm, "");
  const words = said.trim().slice(-2000) || result.stdout.text.trim().slice(-2000) || `git ${howEnded(result)}`;
  const [, code = "COMMAND_FAILED", then] = kinds.find(([pattern]) => pattern.test(own)) ?? [];
  const next = typeof then === "function" ? then(subject) : then;
  const message = `${operation} of ${JSON.stringify(subject.subject)}: ${words}`;
  return new SandboxError(code, next ? `${message}\n${next}` : message, details);
}

/** What git itself says comes first or last; hooks may say a lot in between, and the patterns take their time. */
function endsOf(said: string): string {
  const kept = 4096;
  return said.length <= 2 * kept ? said : `${said.slice(0, kept)}\n${said.slice(-kept)}`;
}

function howEnded(result: ExecResult): string {
  if (result.reason === "exited") return `exited with ${result.exitCode}`;
  if (result.reason === "signaled") return `was ended by ${result.signal ?? "a signal"}`;
  return result.reason === "oom" ? "ran out of memory" : `ended by ${result.reason}`;
}
