import type { DaemonErrorCode, FileStatus, GitStatus, Status } from "@daytona/toolbox-api-client";
import type { EmulatedBox } from "../../emulated-box.js";
import { daemonFailure } from "../api-failure.js";
import { type Finished, run } from "./run.js";

/** Who a remote is told that it is. */
export interface Credentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** Git in a box, run for one request. */
export interface GitCall {
  readonly box: EmulatedBox;
  readonly env: Readonly<Record<string, string>>;
}

/** What git says of failures, in its own words, and what the service makes of them; the first that fits. */
const failures: readonly (readonly [RegExp, number, DaemonErrorCode?])[] = [
  [/Authentication failed|could not read (Username|Password)|terminal prompts disabled/i, 401, "GIT_AUTH_FAILED"],
  [
    /repository .* not found|does not appear to be a git repository|repository '.*' does not exist/i,
    404,
    "GIT_REPO_NOT_FOUND",
  ],
  [/a branch named .* already exists/i, 409, "GIT_BRANCH_EXISTS"],
  [
    /branch .* not found|pathspec .* did not match|Remote branch .* not found|couldn't find remote ref/i,
    404,
    "GIT_BRANCH_NOT_FOUND",
  ],
  [/remote rejected|pre-receive hook declined/i, 422, "GIT_REMOTE_REJECTED"],
  [/\[rejected\]|failed to push|non-fast-forward/i, 409, "GIT_PUSH_REJECTED"],
  [/would be overwritten|commit your changes or stash/i, 409, "GIT_DIRTY_WORKTREE"],
  [/CONFLICT|Automatic merge failed|divergent branches|Not possible to fast-forward/i, 409, "GIT_MERGE_CONFLICT"],
  [/Could not resolve host|unable to access|Connection (refused|timed out)/i, 502, "GIT_TRANSPORT_FAILED"],
  [/not a git repository|cannot change to/i, 404, "GIT_REPO_NOT_FOUND"],
];

/** Runs git in a repository, or outside of any without `path`. @throws ApiFailure for what git refuses */
export async function git(call: GitCall, path: string | undefined, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await tryGit(call, path, args);
  if (exitCode === 0) return stdout.toString("utf8");
  const said = `${stderr.toString("utf8")}${stdout.toString("utf8")}`.trim();
  const [, status, code] = failures.find(([pattern]) => pattern.test(said)) ?? [undefined, 400];
  throw daemonFailure(status, said, code);
}

/** Runs git and gives what comes of it. */
export function tryGit({ box, env }: GitCall, path: string | undefined, args: readonly string[]): Promise<Finished> {
  const where = path === undefined ? [] : ["-C", path];
  return run(box, ["git", ...where, ...args], { env: { LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", ...env } });
}

/** A helper of git's that hands over what stands in the environment: nothing of it is seen on a command line. */
const helper = '!f() { echo "username=$SANDKIT_GIT_USERNAME"; echo "password=$SANDKIT_GIT_PASSWORD"; }; f';

/** The call and the first arguments of one that tells a remote who asks. */
export function withCredentials(
  call: GitCall,
  { username, password }: Credentials,
): { readonly call: GitCall; readonly args: readonly string[] } {
  if (!username && !password) return { call, args: [] };
  const secrets = { SANDKIT_GIT_USERNAME: username ?? "", SANDKIT_GIT_PASSWORD: password ?? "" };
  return {
    call: { ...call, env: { ...call.env, ...secrets } },
    args: ["-c", "credential.helper=", "-c", `credential.helper=${helper}`],
  };
}

const statusByLetter: Readonly<Record<string, Status>> = {
  ".": "Unmodified",
  "?": "Untracked",
  M: "Modified",
  T: "Modified",
  A: "Added",
  D: "Deleted",
  R: "Renamed",
  C: "Copied",
  U: "Updated but unmerged",
};

/** What `git status --porcelain=v2 --branch -z` says. */
export function parseStatus(output: string): GitStatus {
  const status: GitStatus = { currentBranch: "", fileStatus: [], ahead: 0, behind: 0, branchPublished: false };
  const records = output.split("\0");
  for (let index = 0; index < records.length; index += 1) {
    const record = records[index] ?? "";
    if (record.startsWith("# ")) parseHeader(status, record.slice(2));
    else if (record.startsWith("? ")) status.fileStatus.push(fileStatus("??", record.slice(2)));
    else if (record.startsWith("1 ")) status.fileStatus.push(fileStatus(record.slice(2, 4), afterFields(record, 8)));
    else if (record.startsWith("u ")) status.fileStatus.push(fileStatus("UU", afterFields(record, 10)));
    else if (record.startsWith("2 ")) {
      // Where it came from is a record of its own.
      index += 1;
      status.fileStatus.push(fileStatus(record.slice(2, 4), afterFields(record, 9), records[index]));
    }
  }
  return status;
}

function parseHeader(status: GitStatus, header: string): void {
  const [name, ...values] = header.split(" ");
  const value = values.join(" ");
  if (name === "branch.head") {
    status.detached = value === "(detached)";
    status.currentBranch = value;
  } else if (name === "branch.upstream") {
    status.upstream = value;
    status.branchPublished = true;
  } else if (name === "branch.ab") {
    const [ahead, behind] = values.map((one) => Math.abs(Number(one)));
    Object.assign(status, { ahead, behind });
  }
}

function fileStatus([staging = ".", worktree = "."]: string, name: string, extra = ""): FileStatus {
  const of = (letter: string) => statusByLetter[letter] ?? "Unmodified";
  return { name, extra, staging: of(staging), worktree: of(worktree) };
}

function afterFields(record: string, count: number): string {
  return record.split(" ").slice(count).join(" ");
}
