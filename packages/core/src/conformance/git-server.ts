import { readFileSync } from "node:fs";
import type { Sandbox } from "../sandbox.js";
import { eventually } from "./assertions.js";

/** A git server that runs in a sandbox and speaks HTTP. */
export interface GitServer extends AsyncDisposable {
  readonly username: string;
  readonly password: string;
  /** Scheme, host and port. */
  readonly url: string;
  /** The other server of the same program. */
  readonly otherPort: string;
  /** The requests so far, one a line: PORT METHOD PATH LOGIN SECRET-SEEN. */
  requests(): string[];
}

/** Starts it over the repositories in a directory. */
export async function startGitServer(sandbox: Sandbox, root: string, password: string): Promise<GitServer> {
  const username = "somebody";
  const process = await sandbox.spawn(command("serve", root));
  await process.write(`${username}:${password}\n`);
  const said = () => process.captured().stdout.text.split("\n").slice(0, -1);
  const [port = "", otherPort = ""] = await eventually("the git server listens", () => said()[0]?.split(" "));
  return {
    username,
    password,
    url: `http://127.0.0.1:${port}`,
    otherPort,
    requests: () => said().slice(1),
    [Symbol.asyncDispose]: () => process.kill("SIGKILL"),
  };
}

/** The files at and below some places of a sandbox that hold a text. */
export async function filesHolding(sandbox: Sandbox, text: string, places: readonly string[]): Promise<string[]> {
  const result = await sandbox.exec(command("find", ...places), { stdin: text });
  return result.orThrow().stdout.text.split("\n").slice(0, -1);
}

let source: string | undefined;

function command(...args: readonly string[]): string[] {
  source ??= readFileSync(new URL("./programs/git_server.py", import.meta.url), "utf8");
  return ["python3", "-c", source, ...args];
}
