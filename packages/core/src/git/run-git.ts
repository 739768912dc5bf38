import { type Capabilities, requireFeature } from "../capabilities.js";
import { SandboxError } from "../errors.js";
import type { ExecResult } from "../exec.js";
import type { Files } from "../files.js";
import type { ExecOptions, OutputChunk } from "../options.js";
import { resolvePath } from "../paths.js";
import type { SandboxRef } from "../provider.js";
import { CredentialFeed } from "./credential-feed.js";
import { gitFailure } from "./git-failure.js";
import type { GitRemoteOptions, GitRunOptions } from "./git-options.js";

/** What git needs to know of its sandbox. */
export interface GitOwner {
  readonly ref: SandboxRef;
  readonly workdir: string;
  readonly capabilities: Capabilities;
  readonly files: Files;
  exec(command: readonly string[], options: ExecOptions): Promise<ExecResult>;
}

/** One command of git. */
export interface GitCommand {
  /** As users call it: `git.clone`. */
  readonly operation: string;
  /** What it is about, for messages: a path, or what is cloned. */
  readonly subject: string;
  /** The subcommand and what follows. */
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  readonly options: GitRunOptions;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | undefined;
  /** Where the output is kept whole or not at all, this is how much of it; default 64 MiB. */
  readonly maxOutputBytes?: number | undefined;
  /** Output of a command that may be cut. */
  readonly mayBeCut?: boolean | undefined;
  /** Exit codes that are no failure; default 0. */
  readonly expect?: readonly number[] | undefined;
}

/** A command that speaks with another repository. */
export interface GitRemoteCommand extends GitCommand {
  readonly options: GitRemoteOptions;
  /** The only server that may have the credentials. */
  readonly server?: string | undefined;
}

const wholeOutput = 64 * 1024 * 1024;
/** Long enough for git to take away what it has begun. */
const killGraceMs = 2_000;
/** Of what git says while it works, in characters. */
const longestLine = 8 * 1024;
const transports = "https:http:ssh:git";

/** Of every command. */
const environment: Readonly<Record<string, string>> = {
  LC_ALL: "C.UTF-8",
  LANGUAGE: "",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  // A merge would ask for its message.
  GIT_EDITOR: ":",
  // What LFS would fetch needs credentials that are not there when files are written.
  GIT_LFS_SKIP_SMUDGE: "1",
};

/** Runs git in a sandbox: what did not end well is an error. */
export class GitRunner {
  readonly #owner: GitOwner;

  constructor(owner: GitOwner) {
    this.#owner = owner;
  }

  get files(): Files {
    return this.#owner.files;
  }

  get workdir(): string {
    return this.#owner.workdir;
  }

  /** @throws SandboxError `UNSUPPORTED` where there is no git */
  require(operation: string): void {
    const { ref, capabilities } = this.#owner;
    const hint = "start the sandbox from an image with git in it, or choose another provider";
    requireFeature({ name: ref.provider, capabilities }, "git", operation, hint);
  }

  /** The absolute form of the path of a repository. */
  place(path: string, operation: string): string {
    this.require(operation);
    return resolvePath(this.#owner.workdir, path, operation);
  }

  /** Runs a command in the sandbox alone. @throws SandboxError by what git says; `TIMEOUT`; or `signal.reason` */
  async run(command: GitCommand): Promise<ExecResult> {
    const { args, cwd, env, stdin, options } = command;
    const result = await this.#owner.exec(["git", ...args], {
      cwd,
      env: { ...environment, ...env },
      stdin,
      killGraceMs,
      ...bounds(command),
      timeoutMs: options.timeoutMs,
      signal: options.signal,
    });
    return this.#checked(command, result, result.stderr.text);
  }

  /** Runs a command that reaches another repository, and gives it its credentials. */
  async runRemote(command: GitRemoteCommand): Promise<ExecResult> {
    const { cwd, env, options, server } = command;
    const { credentials, allowLocal, onProgress, timeoutMs, signal } = options;
    const feed = credentials && new CredentialFeed(credentials, requireServer(command.operation, server));
    // Nothing is to go on in the background, with the pipe of the credentials in its hands.
    const args = ["-c", "gc.auto=0", "-c", "maintenance.auto=false", ...command.args];
    const allowed = { GIT_ALLOW_PROTOCOL: allowLocal ? `${transports}:file` : transports };
    const progress = onProgress && lineReader((line) => feed?.isMark(line) || onProgress(line));
    const onOutput = ({ stream, text }: OutputChunk) => {
      if (stream !== "stderr") return;
      feed?.watch(text);
      progress?.(text);
    };
    const result = await this.#owner.exec(feed ? feed.command(args) : ["git", ...args], {
      cwd,
      env: { ...environment, ...allowed, ...feed?.env, ...env },
      stdin: feed?.stdin,
      killGraceMs,
      ...bounds(command),
      ...((feed || progress) && { onOutput }),
      timeoutMs,
      signal,
    });
    return this.#checked(command, result, feed?.clean(result.stderr.text) ?? result.stderr.text);
  }

  #checked(command: GitCommand & { readonly options: GitRemoteOptions }, result: ExecResult, said: string): ExecResult {
    const { operation, subject, options, expect = [0] } = command;
    const { provider, id: sandboxId } = this.#owner.ref;
    const details = { operation, provider, sandboxId, result };
    if (result.reason === "aborted") throw options.signal?.reason;
    if (result.reason === "timeout") {
      const next = "give it more time, or clone less with depth";
      const message = `${operation} of ${JSON.stringify(subject)} did not end in time (timeoutMs): ${next}`;
      throw new SandboxError("TIMEOUT", message, details);
    }
    if (result.reason === "output_limit") {
      const message = `${operation} of ${JSON.stringify(subject)}: git's answer is too long: ask for fewer files or commits`;
      throw new SandboxError("TOO_LARGE", message, details);
    }
    if (result.reason === "exited" && result.exitCode !== null && expect.includes(result.exitCode)) return result;
    const credentials = options.credentials !== undefined;
    throw gitFailure(result, said, { operation, subject, provider, sandboxId, credentials });
  }
}

function bounds({ maxOutputBytes = wholeOutput, mayBeCut }: GitCommand): ExecOptions {
  return { maxOutputBytes, onLimit: mayBeCut ? "truncate" : "kill" };
}

function requireServer(operation: string, server: string | undefined): string {
  if (server !== undefined) return server;
  const why = "credentials go to servers that speak HTTP and to no other";
  throw new SandboxError("INVALID", `${operation}: ${why}: name theirs as credentials.server, or leave them out`, {
    operation,
  });
}

/** Calls for each line of a text that comes in pieces; a carriage return ends one too. Of a long one the end is kept. */
function lineReader(onLine: (line: string) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split(/[\r\n]+/);
    rest = lines.pop()?.slice(-longestLine) ?? "";
    for (const line of lines) if (line.trim() !== "") onLine(line.trimEnd());
  };
}
