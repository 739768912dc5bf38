import type { Command, ExecResult, ResolvedCommandContext } from "just-bash";
import type { ShellState } from "./hooks.js";
import { type Routes, routesOf } from "./routes.js";

export type Run = Command["execute"];

/** What a command is told of the shell that runs it, as just-bash is patched. It holds when the command is cancelled. */
interface OwnShell {
  readonly state: ShellState;
  exec(text: string, options: NestedOptions): Promise<ExecResult>;
  /** With the input of the command. */
  execWithInput(text: string, options: NestedOptions): Promise<ExecResult>;
}

/** With what just-bash takes besides and does not declare. */
type NestedOptions = Parameters<NonNullable<ResolvedCommandContext["exec"]>>[1] & {
  readonly rawScript?: boolean;
  readonly routes?: Routes;
  /** Names of the variables that programs are given. */
  readonly exported?: readonly string[];
};

interface OwnEnvironment {
  /** What programs are given, in place of what the shell has exported. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Variables that every shell has, whatever it is given. */
const variables = ["IFS", "OPTIND", "OSTYPE", "MACHTYPE", "HOSTTYPE", "HOSTNAME", "SHELLOPTS", "BASHOPTS"];

export function stateOf(context: ResolvedCommandContext): ShellState {
  return shellOf(context).state;
}

/** Runs a script of its own, whose output comes out where that of the command would. */
export function runScript(
  context: ResolvedCommandContext,
  text: string,
  options: Pick<NestedOptions, "args" | "env" | "stdin" | "signal"> & OwnEnvironment = {},
): Promise<ExecResult> {
  const shell = shellOf(context);
  const { signal } = shell.state;
  const environment = options.environment ?? context.exportedEnv ?? {};
  const all: NestedOptions = {
    ...(signal && { signal }),
    ...options,
    cwd: context.cwd,
    env: { ...ownVariables(context), ...environment, ...options.env },
    // Nothing else of the shell that runs it: what is not exported is for itself alone.
    replaceEnv: true,
    exported: Object.keys(environment),
    rawScript: true,
    routes: routesOf(shell.state),
  };
  return options.stdin === undefined
    ? shell.execWithInput(text, all)
    : shell.exec(text, { ...all, stdinKind: "bytes" });
}

function ownVariables({ env }: ResolvedCommandContext): Record<string, string> {
  return Object.fromEntries(variables.map((name) => [name, env.get(name) ?? ""]));
}

function shellOf(context: ResolvedCommandContext): OwnShell {
  return (context as ResolvedCommandContext & { readonly shell: OwnShell }).shell;
}

/** Runs one command, whose arguments no shell looks at. */
export function runCommand(
  context: ResolvedCommandContext,
  [name = "", ...args]: readonly string[],
  options: Pick<NestedOptions, "stdin" | "signal"> & OwnEnvironment = {},
): Promise<ExecResult> {
  return runScript(context, quote(name), { ...options, args });
}

export function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
