import type { Bash as BashClass, BashExecResult, ScriptNode } from "just-bash";
import { Bash } from "just-bash/browser";
import { refuseLargeBraces } from "./braces.js";
import { ask, chunkBytes, FileFailure } from "./broker.js";
import { bytesOfLatin1, latin1 } from "./bytes.js";
import { builtIn, commandNames, ownCommands, refusedNames } from "./commands.js";
import { Devices } from "./devices.js";
import { ShellFiles } from "./files.js";
import { host } from "./globals.js";
import { type Invocation, readInvocation } from "./invocation.js";
import { limits } from "./limits.js";
import { type StreamTargets, streamOutput } from "./streaming.js";
import { functionsOf, Traps } from "./traps.js";

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

type Script = Extract<Invocation, { kind: "script" }>;

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
  readonly #traps = new Traps();
  readonly #targets: StreamTargets;
  #input: string;
  #functions: ScriptNode["statements"] = [];
  /** What is done to the next script that is parsed, once: those that a script starts itself are left as they are. */
  #prepare: ((script: ScriptNode) => void) | undefined;

  constructor({ cwd, env, pid, network }: ShellJob, input: string) {
    this.#input = input;
    const token = randomToken();
    const direct = `_SANDKIT_${token}`;
    const isProgram = (name: string) => this.#files.isProgram(name);
    this.#targets = { stdout: `/dev/.o${token}`, stderr: `/dev/.e${token}`, direct, isProgram };
    const streams = new Map([
      [this.#targets.stdout, 1],
      [this.#targets.stderr, 2],
    ]);
    this.#files = new ShellFiles(
      new Devices([...commandNames(network), "trap", "umask"], refusedNames(network), streams),
      direct,
    );
    this.#bash = new Bash({
      fs: this.#files,
      cwd,
      env: { ...env },
      commands: builtIn,
      customCommands: [
        ...ownCommands(this.#targets.direct, network),
        { name: "trap", trusted: true, execute: this.#traps.command },
        { name: "umask", trusted: true, execute: async (args) => this.#umask(args) },
      ],
      executionLimits: limits,
      // It guards a process that has something to reach. This realm has nothing.
      defenseInDepth: false,
      processInfo: { pid, ppid: 1, uid: 1000, gid: 1000 },
    });
    hideRefused(this.#bash, refusedNames(network));
    this.#bash.registerTransformPlugin({
      name: "sandkit",
      transform: ({ ast }) => {
        refuseLargeBraces(ast);
        const prepare = this.#prepare;
        this.#prepare = undefined;
        prepare?.(ast);
        return { ast };
      },
    });
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
    const text = await this.#textOf(script);
    if (text === undefined) {
      print(2, `${script.name}: No such file or directory\n`);
      return 127;
    }
    const { positional, options } = script;
    const env: Record<string, string> = { 0: script.name, "#": `${positional.length}`, "@": positional.join(" ") };
    for (const [index, value] of positional.entries()) env[`${index + 1}`] = value;
    // On the first line, so that the others keep their numbers.
    const set = options.length > 0 ? `set ${options.map(quote).join(" ")};` : "";
    const exitCode = await this.#execute(set + text, { env });
    if (this.#traps.exit === "") return exitCode;
    return this.#runTrap(exitCode);
  }

  #last: Record<string, string> = {};

  async #runTrap(exitCode: number): Promise<number> {
    const handler = this.#traps.exit;
    this.#traps.exit = "";
    const cwd = this.#last.PWD;
    const functions = this.#functions;
    await this.#execute(
      `(exit ${exitCode}); ${handler}`,
      { env: this.#last, ...(cwd !== undefined && { cwd }) },
      (script) => script.statements.unshift(...functions),
    );
    return exitCode;
  }

  async #textOf({ source }: Script): Promise<string | undefined> {
    if ("text" in source) return source.text;
    if ("file" in source) {
      try {
        return await this.#files.readFile(this.#files.resolvePath(this.#bash.getCwd(), source.file));
      } catch (error) {
        if (error instanceof FileFailure) return undefined;
        throw error;
      }
    }
    const script = new TextDecoder().decode(bytesOfLatin1(this.#input));
    this.#input = "";
    return script;
  }

  async #execute(
    text: string,
    options: { args?: string[]; env?: Record<string, string>; cwd?: string },
    prepare?: (script: ScriptNode) => void,
  ): Promise<number> {
    this.#prepare = (script) => {
      this.#functions = functionsOf(script);
      streamOutput(script, this.#targets);
      prepare?.(script);
    };
    const stdin = this.#input === "" ? {} : { stdin: this.#input, stdinKind: "bytes" as const };
    try {
      const result = await this.#bash.exec(text, { ...options, ...stdin, rawScript: true });
      this.#last = result.env;
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
function writeRest({ stdout, stderr, stdoutKind, stdoutEncoding }: BashExecResult): void {
  const binary = stdoutKind === "bytes" || (stdoutKind === undefined && stdoutEncoding === "binary");
  if (stdout !== "") host.write(1, binary ? bytesOfLatin1(stdout) : new TextEncoder().encode(stdout));
  print(2, stderr);
}

function print(stream: number, text: string): void {
  if (text !== "") host.write(stream, new TextEncoder().encode(text));
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

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function randomToken(): string {
  const bytes = new Uint8Array(8);
  host.random(bytes);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
