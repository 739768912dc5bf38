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

interface Kind {
  readonly said: RegExp;
  readonly code: ErrorCode;
  readonly next: string | ((subject: GitSubject) => string);
}

const askForCredentials = ({ credentials }: GitSubject) =>
  credentials
    ? "check the credentials, and that their server is the one of the repository"
    : "the server wants a login: pass credentials";
const takeAnother = "name one that exists";

/**
 * git has one exit code for nearly everything: what is left is its words, which are fixed in the locale that it is
 * started in. Only lines of its own count, never those that a server sends.
 */
const kinds: readonly Kind[] = [
  { said: /^fatal: Authentication failed for /m, code: "AUTH", next: askForCredentials },
  { said: /^fatal: could not read (Username|Password) for /m, code: "AUTH", next: askForCredentials },
  { said: /The requested URL returned error: (401|403)/, code: "AUTH", next: askForCredentials },
  {
    said: /^(Host key verification failed|.*Permission denied \(publickey)/m,
    code: "AUTH",
    next: "ssh needs a key and known hosts in the sandbox: use https with credentials",
  },
  {
    said: /^fatal: repository '.*' not found/ms,
    code: "NOT_FOUND",
    next: "check its address; private ones may need credentials",
  },
  { said: /^fatal: not a git repository/m, code: "NOT_FOUND", next: "clone or init one there first" },
  { said: /^fatal: repository '.*' does not exist/ms, code: "NOT_FOUND", next: takeAnother },
  { said: /^fatal: .* does not appear to be a git repository/ms, code: "NOT_FOUND", next: takeAnother },
  { said: /^(fatal|error): Remote branch .* not found/ms, code: "NOT_FOUND", next: takeAnother },
  {
    said: /^(fatal|error): (couldn't find remote ref|src refspec .* does not match)/ms,
    code: "NOT_FOUND",
    next: takeAnother,
  },
  { said: /^(fatal|error): pathspec '.*' did not match/ms, code: "NOT_FOUND", next: takeAnother },
  {
    said: /^(fatal|error): (bad revision|ambiguous argument|invalid reference|not a valid object name|branch '.*' not found)/ms,
    code: "NOT_FOUND",
    next: takeAnother,
  },
  { said: /^fatal: '.*' is not a commit and a branch/ms, code: "NOT_FOUND", next: takeAnother },
  {
    said: /^fatal: destination path '.*' already exists/ms,
    code: "CONFLICT",
    next: "clone to another path, or empty that one",
  },
  {
    said: /^fatal: a branch named '.*' already exists/ms,
    code: "CONFLICT",
    next: "check it out, or take another name",
  },
  {
    said: /^error: .* would be overwritten by /ms,
    code: "CONFLICT",
    next: "commit these changes first, or give them up",
  },
  {
    said: /^fatal: Not possible to fast-forward/m,
    code: "CONFLICT",
    next: 'both sides have new commits: pull with strategy "merge" or "rebase"',
  },
  { said: /^error: The branch '.*' is not fully merged/ms, code: "CONFLICT", next: "merge it, or pass force" },
  { said: /^error: Cannot delete branch '.*' checked out/ms, code: "CONFLICT", next: "check out another first" },
  {
    said: /^error: (Pulling|Merging|Committing) is not possible because you have unmerged files/m,
    code: "CONFLICT",
    next: "settle the unmerged files, add and commit them",
  },
  {
    said: /^fatal: (unable to auto-detect email address|empty ident name|no email was given)/m,
    code: "INVALID",
    next: "pass author, or set user.name and user.email in the sandbox",
  },
  {
    said: /^fatal: transport '.*' not allowed/m,
    code: "INVALID",
    next: "the remote's address is none of https, http, ssh and git; allowLocal permits the sandbox's own files",
  },
  {
    said: /(Could not resolve host|Failed to connect to|Connection refused|Connection timed out|Could not connect)/,
    code: "UNAVAILABLE",
    next: 'check the address, and that the option "network" of the sandbox permits it',
  },
];

/** The error for a command of git that did not end well. */
export function gitFailure(result: ExecResult, said: string, subject: GitSubject): SandboxError {
  const { operation, provider, sandboxId } = subject;
  const details = { operation, provider, sandboxId, result };
  if (result.reason === "exited" && (result.exitCode === 127 || result.exitCode === 126)) {
    const next = "start the sandbox from an image that has it";
    return new SandboxError(
      "UNSUPPORTED",
      `${operation} needs the program git, which cannot be run here: ${next}`,
      details,
    );
  }
  const own = said.replace(/^remote:.*$/gm, "");
  const words = said.trim().slice(-2000) || result.stdout.text.trim().slice(-2000) || `git ${howEnded(result)}`;
  const kind = result.reason === "exited" ? kinds.find((one) => one.said.test(own)) : undefined;
  const next = typeof kind?.next === "function" ? kind.next(subject) : kind?.next;
  const message = `${operation} of ${JSON.stringify(subject.subject)}: ${words}`;
  return new SandboxError(kind?.code ?? "COMMAND_FAILED", next ? `${message}\n${next}` : message, details);
}

function howEnded(result: ExecResult): string {
  if (result.reason === "exited") return `exited with ${result.exitCode}`;
  if (result.reason === "signaled") return `was ended by ${result.signal ?? "a signal"}`;
  return result.reason === "oom" ? "ran out of memory" : `ended by ${result.reason}`;
}
