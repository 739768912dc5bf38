import { SandboxError } from "../errors.js";
import { resolvePath } from "../paths.js";
import { checkGit, type GitCloneOptions } from "./git-options.js";
import { parseRemoteUrl, parseServer } from "./remote-url.js";
import type { GitRunner } from "./run-git.js";

const operation = "git.clone";

/** Copies a repository and gives the absolute path of the copy; nothing is left of one that fails. */
export async function clone(git: GitRunner, url: string, options: GitCloneOptions): Promise<string> {
  checkGit("clone", operation, options);
  git.require(operation);
  const { branch, depth, credentials, allowLocal = false } = options;
  const remote = parseRemoteUrl(url, git.workdir, allowLocal);
  if (options.path === undefined && /^\.*$/.test(remote.name)) {
    throw new SandboxError("INVALID", `${operation}: ${JSON.stringify(url)} gives no name: pass path`, { operation });
  }
  const path = resolvePath(git.workdir, options.path ?? remote.name, operation);
  const wasThere = await git.files.exists(path);
  const args = [
    ...["clone", "--origin=origin", "--no-recurse-submodules", options.onProgress ? "--progress" : "--quiet"],
    ...(branch === undefined ? [] : [`--branch=${branch}`]),
    ...(depth === undefined ? [] : [`--depth=${depth}`]),
    ...["--", depth === undefined ? remote.url : asFileUrl(remote.url), path],
  ];
  const server = remote.server && credentials?.server ? parseServer(credentials.server, operation) : remote.server;
  try {
    await git.runRemote({ operation, subject: url, args, cwd: git.workdir, options, server });
  } catch (error) {
    // Why there is no clone counts more than what may be left of it.
    // What somebody else has put there meanwhile is theirs.
    const isTaken = error instanceof SandboxError && error.code === "CONFLICT";
    if (!wasThere && !isTaken) await git.files.remove(path, { recursive: true }).catch(() => undefined);
    throw error;
  }
  return path;
}

/** A depth is honoured over a protocol alone, not when files are copied. */
function asFileUrl(url: string): string {
  return url.startsWith("/") ? `file://${url.split("/").map(encodeURIComponent).join("/")}` : url;
}
