import type {
  GitAddRemoteRequest,
  GitAddRequest,
  GitAuthenticateRequest,
  GitBranchRequest,
  GitCheckoutRequest,
  GitCloneRequest,
  GitCommitInfo,
  GitCommitRequest,
  GitConfigureUserRequest,
  GitInitRequest,
  GitPullRequest,
  GitPushRequest,
  GitResetRequest,
  GitRestoreRequest,
  GitSetConfigRequest,
} from "@daytona/toolbox-api-client";
import type { Exchange } from "../../http/exchange.js";
import { daemonFailure } from "../api-failure.js";
import { type Credentials, git, parseStatus, tryGit, withCredentials } from "./git.js";
import type { Toolbox } from "./toolbox.js";
import type { ToolboxHandler } from "./toolbox-routes.js";

/** A route whose body names a repository by `path`; without an answer of its own it is answered by 204. */
function acting<Request extends { readonly path: string }>(
  act: (toolbox: Toolbox, request: Request, path: string) => Promise<unknown>,
): ToolboxHandler {
  return async (toolbox, exchange) => {
    const request = await exchange.readJson<Request>();
    if (!request.path) throw daemonFailure(400, "path is required");
    const answer = await act(toolbox, request, toolbox.path(request.path));
    if (answer === undefined) await exchange.bytes(204, undefined);
    return answer;
  };
}

/** `/git`. */
export const gitRoutes: Readonly<Record<string, ToolboxHandler>> = {
  "POST /git/clone": acting<GitCloneRequest>(async (toolbox, request, path) => {
    const { url, branch, commit_id: commit, depth, insecure_skip_tls: insecure } = request;
    const { call, args } = withCredentials(callOf(toolbox), request);
    const tls = insecure ? ["-c", "http.sslVerify=false"] : [];
    const options = [...(branch ? ["--branch", branch] : []), ...(depth ? ["--depth", String(depth)] : [])];
    await git(call, undefined, [...args, ...tls, "clone", "--quiet", ...options, "--", url, path]);
    if (commit) await git(call, path, ["checkout", "--quiet", commit]);
  }),
  "POST /git/init": acting<GitInitRequest>(async (toolbox, { bare, initial_branch: branch }, path) => {
    const options = [...(bare ? ["--bare"] : []), ...(branch ? ["--initial-branch", branch] : [])];
    await git(callOf(toolbox), undefined, ["init", "--quiet", ...options, "--", path]);
  }),
  "POST /git/add": acting<GitAddRequest>(async (toolbox, { files }, path) => {
    await git(callOf(toolbox), path, ["add", "--", ...files]);
  }),
  "POST /git/commit": acting<GitCommitRequest>(async (toolbox, request, path) => {
    const { message, author, email, allow_empty: empty } = request;
    const who = ["-c", `user.name=${author}`, "-c", `user.email=${email}`];
    const options = empty ? ["--allow-empty"] : [];
    await git(callOf(toolbox), path, [...who, "commit", "--quiet", ...options, "--message", message]);
    return { hash: (await git(callOf(toolbox), path, ["rev-parse", "HEAD"])).trim() };
  }),
  "POST /git/push": acting<GitPushRequest>(async (toolbox, request, path) => {
    const { remote = "origin", branch = "HEAD", set_upstream: upstream } = request;
    await remoteGit(toolbox, path, request, ["push", ...(upstream ? ["--set-upstream"] : []), remote, branch]);
  }),
  "POST /git/pull": acting<GitPullRequest>(async (toolbox, request, path) => {
    const { remote, branch } = request;
    const from = remote || branch ? [remote ?? "origin", ...(branch ? [branch] : [])] : [];
    await remoteGit(toolbox, path, request, ["pull", "--quiet", "--ff-only", ...from]);
  }),
  "GET /git/status": async (toolbox, exchange) =>
    parseStatus(await git(callOf(toolbox), pathOf(toolbox, exchange), ["status", "--porcelain=v2", "--branch", "-z"])),
  "GET /git/history": async (toolbox, exchange) => {
    const format = "--format=%H%x1f%an%x1f%ae%x1f%aI%x1f%B%x1e";
    const output = await git(callOf(toolbox), pathOf(toolbox, exchange), ["log", format]);
    return output
      .split("\x1e")
      .map((one) => one.trim())
      .filter(Boolean)
      .map(commitInfo);
  },

  "GET /git/branches": async (toolbox, exchange) => {
    const path = pathOf(toolbox, exchange);
    const branches = await git(callOf(toolbox), path, ["branch", "--format=%(refname:short)"]);
    const current = (await tryGit(callOf(toolbox), path, ["symbolic-ref", "--short", "HEAD"])).stdout.toString("utf8");
    return { branches: branches.split("\n").filter(Boolean), current: current.trim() || undefined };
  },
  "POST /git/branches": acting<GitBranchRequest>(async (toolbox, { name }, path) => {
    await git(callOf(toolbox), path, ["branch", "--", name]);
  }),
  "DELETE /git/branches": acting<GitBranchRequest>(async (toolbox, { name }, path) => {
    await git(callOf(toolbox), path, ["branch", "--delete", "--force", "--", name]);
  }),
  "POST /git/checkout": acting<GitCheckoutRequest>(async (toolbox, { branch }, path) => {
    await git(callOf(toolbox), path, ["checkout", "--quiet", branch, "--"]);
  }),
  "POST /git/reset": acting<GitResetRequest>(async (toolbox, { mode, target, files }, path) => {
    const what = files?.length ? ["--", ...files] : [];
    const how = mode && !files?.length ? [`--${mode}`] : [];
    await git(callOf(toolbox), path, ["reset", "--quiet", ...how, target ?? "HEAD", ...what]);
  }),
  "POST /git/restore": acting<GitRestoreRequest>(async (toolbox, { files, staged, worktree, source }, path) => {
    const where = [...(staged ? ["--staged"] : []), ...(worktree ? ["--worktree"] : [])];
    await git(callOf(toolbox), path, ["restore", ...where, ...(source ? ["--source", source] : []), "--", ...files]);
  }),

  "GET /git/remotes": async (toolbox, exchange) => {
    const path = pathOf(toolbox, exchange);
    const names = (await git(callOf(toolbox), path, ["remote"])).split("\n").filter(Boolean);
    const urls = names.map((name) => git(callOf(toolbox), path, ["remote", "get-url", name]));
    return { remotes: (await Promise.all(urls)).map((url, index) => ({ name: names[index] ?? "", url: url.trim() })) };
  },
  "POST /git/remotes": acting<GitAddRemoteRequest>(async (toolbox, { name, url, fetch, overwrite }, path) => {
    if (overwrite) await tryGit(callOf(toolbox), path, ["remote", "remove", name]);
    await git(callOf(toolbox), path, ["remote", "add", ...(fetch ? ["-f"] : []), "--", name, url]);
  }),

  "GET /git/config": async (toolbox, exchange) => {
    const { query } = exchange;
    const [key = "", scope] = [query.get("key") ?? "", query.get("scope")];
    const path = query.get("path");
    const where = path === null ? undefined : toolbox.path(path);
    const { stdout } = await tryGit(callOf(toolbox), where, ["config", ...scopeOf(scope), "--get", key]);
    const value = stdout.toString("utf8").trimEnd();
    return value === "" ? {} : { value };
  },
  "POST /git/config": async (toolbox, exchange) => {
    const { key, value, scope, path } = await exchange.readJson<GitSetConfigRequest>();
    await git(callOf(toolbox), path && toolbox.path(path), ["config", ...scopeOf(scope), key, value]);
    await exchange.bytes(204, undefined);
  },
  "POST /git/config/user": async (toolbox, exchange) => {
    const { name, email, scope, path } = await exchange.readJson<GitConfigureUserRequest>();
    const where = path && toolbox.path(path);
    await git(callOf(toolbox), where, ["config", ...scopeOf(scope), "user.name", name]);
    await git(callOf(toolbox), where, ["config", ...scopeOf(scope), "user.email", email]);
    await exchange.bytes(204, undefined);
  },
  "POST /git/credentials": async (toolbox, exchange) => {
    const request = await exchange.readJson<GitAuthenticateRequest>();
    const { username, password, host = "github.com", protocol = "https" } = request;
    await git(callOf(toolbox), undefined, ["config", "--global", "credential.helper", "store"]);
    const url = new URL(`${protocol}://${host}`);
    url.username = username;
    url.password = password;
    // It lies there in the clear, as the name of the SDK's method says.
    const line = url.href.replace(/\/$/, "\n");
    await toolbox.box.files.write(`${toolbox.box.home}/.git-credentials`, line, { mode: "append", permissions: 0o600 });
    await exchange.bytes(204, undefined);
  },
};

async function remoteGit(
  toolbox: Toolbox,
  path: string,
  credentials: Credentials,
  args: readonly string[],
): Promise<void> {
  const known = withCredentials(callOf(toolbox), credentials);
  await git(known.call, path, [...known.args, ...args]);
}

function callOf(toolbox: Toolbox) {
  return { box: toolbox.box, env: toolbox.env() };
}

function pathOf(toolbox: Toolbox, { query }: Exchange): string {
  const path = query.get("path");
  if (!path) throw daemonFailure(400, "path is required");
  return toolbox.path(path);
}

function scopeOf(scope: string | null | undefined): string[] {
  if (!scope) return ["--global"];
  if (!["global", "local", "system"].includes(scope)) throw daemonFailure(400, `invalid scope: ${scope}`);
  return [`--${scope}`];
}

function commitInfo(record: string): GitCommitInfo {
  const [hash = "", author = "", email = "", timestamp = "", message = ""] = record.split("\x1f");
  return { hash, author, email, timestamp, message: message.trim() };
}
