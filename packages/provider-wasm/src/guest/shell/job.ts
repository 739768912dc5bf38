import type { Bash as BashClass, BashExecResult, ExecOptions } from "just-bash";
import { Bash } from "just-bash/browser";
import { ask, chunkBytes } from "./broker.js";
import { bytesOfText, latin1 } from "./bytes.js";
import { builtIn, commandNames, ownCommands, refusedNames } from "./commands.js";
import { Devices } from "./devices.js";
import { ShellFiles } from "./files.js";
import { host } from "./globals.js";
import { readInvocation } from "./invocation.js";
import { limits } from "./limits.js";
import { quote } from "./nested.js";
import { bytesOfOutput, ownRoutes } from "./routes.js";
import { prepare, readScript, type Script } from "./scripts.js";

/** What the broker gives the shell to run. */
export interface ShellJob {
  readonly argv: readonly string[];
  readonly stdin: boolean;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether there are hosts that may be asked. */
  readonly network: boolean;
  readonly pid: number;
}

/** Input is read to its end before a script begins, and has to be in memory. */
const largestInput = 64 * 1024 * 1024;

/** Runs one command line to its end and gives its exit code. Output goes out while it runs. */
export async function runJob(job: ShellJob): Promise<number> {
  const invocation = readInvocation(job.argv);
  if (invocation.kind === "usage") {
    print(invocation.exitCode === 0 ? 1 : 2, invocation.message);
    return invocation.exitCode;
  }
  const input = job.stdin ? readInput() : "";
  if (input === undefined) {
    print(2, `sandkit: input of more than ${largestInput / 1024 / 1024} MiB: write it to a file\n`);
    return 1;
  }
  const shell = new Shell(job, input);
  return invocation.kind === "command"
    ? shell.runCommand(invocation.name, invocation.args)
    : shell.runScript(invocation);
}

/** One just-bash, for one job. */
class Shell {
  readonly #bash: BashClass;
  readonly #files: ShellFiles;
  #input: string;

  constructor({ cwd, env, pid, network }: ShellJob, input: string) {
    this.#input = input;
    this.#files = new ShellFiles(new Devices([...commandNames(network), "umask"], refusedNames(network)));
    this.#bash = new Bash({
      fs: this.#files,
      cwd,
      env: { ...env },
      commands: builtIn,
      customCommands: [
        ...ownCommands(network),
        { name: "umask", trusted: true, execute: async (args) => this.#umask(args) },
      ],
      executionLimits: limits,
      // It guards a process that has something to reach. This realm has nothing.
      defenseInDepth: false,
      processInfo: { pid, ppid: 1, uid: 1000, gid: 1000 },
    });
    hideRefused(this.#bash, refusedNames(network));
  }

  #umask([mask]: readonly string[]) {
    if (mask === undefined) {
      return { stdout: `${this.#files.umask.toString(8).padStart(4, "0")}\n`, stderr: "", exitCode: 0 };
    }
    if (!/^[0-7]{1,4}$/.test(mask)) return { stdout: "", stderr: `umask: ${mask}: octal numbers only\n`, exitCode: 1 };
    this.#files.umask = Number.parseInt(mask, 8) & 0o777;
    return { stdout: "", stderr: "", exitCode: 0 };
  }

  runCommand(name: string, args: readonly string[]): Promise<number> {
    return this.#execute(quote(name), { args: [...args] });
  }

  async runScript(script: Script): Promise<number> {
    const read = await readScript(script, this.#files, this.#bash.getCwd(), this.#input);
    if ("failed" in read) {
      print(2, read.failed.stderr);
      return read.failed.exitCode;
    }
    if ("stdin" in script.source) this.#input = "";
    const { first, env } = prepare(script);
    return this.#execute(first + read.text, { env });
  }

  async #execute(text: string, options: Pick<ExecOptions, "args" | "env">): Promise<number> {
    const stdin = this.#input === "" ? {} : { stdin: this.#input, stdinKind: "bytes" as const };
    const own = { rawScript: true, routes: ownRoutes };
    try {
      const result = await this.#bash.exec(text, { ...options, ...stdin, ...own });
      writeRest(result);
      return result.exitCode & 0xff;
    } catch (error) {
      // A file that cannot be written, or a failure within just-bash: the script is over, the shell is not.
      print(2, `bash: ${error instanceof Error ? error.message : "failed"}\n`);
      return 1;
    }
  }
}

/** Keeps `command -v` and `type` from finding commands that only say why they are not there. */
function hideRefused(bash: BashClass, names: readonly string[]): void {
  const { commands } = bash as unknown as { readonly commands: Map<string, unknown> };
  const refused = new Set(names);
  commands.has = (name) => !refused.has(name) && Map.prototype.has.call(commands, name);
}

/** What did not go out as it came. */
function writeRest(result: BashExecResult): void {
  if (result.stdout !== "") host.write(1, bytesOfOutput(result));
  print(2, result.stderr);
}

function print(stream: number, text: string): void {
  if (text !== "") host.write(stream, bytesOfText(text));
}

/** All input as a string of bytes; undefined when it is too much. */
function readInput(): string | undefined {
  const parts: string[] = [];
  const area = new Uint8Array(chunkBytes);
  for (let size = 0; ; ) {
    const count = ask<number>("stdin", [area.length], area);
    if (count <= 0) return parts.join("");
    size += count;
    if (size > largestInput) return undefined;
    parts.push(latin1(area.subarray(0, count)));
  }
}
