/** What just-bash calls where patch-just-bash.ts changes it: how output comes out as it is made, and traps at the end. */
import type { ExecResult, ScriptNode, SimpleCommandNode, StatementNode, WordNode } from "just-bash";
import { letOut, noRoutes, type RoutedState, redirect, routesOf, within } from "./routes.js";

export { expandGlob } from "./glob.js";
export { letOut } from "./routes.js";
export { escapeAt } from "./tr-escapes.js";

/** The state of a script of just-bash, as far as it is used here. */
export interface ShellState extends RoutedState {
  /** What `trap` has set for its end. */
  exitTrap?: string | undefined;
  lastExitCode: number;
  /** Cancels it. */
  readonly signal?: AbortSignal | undefined;
  readonly env: Map<string, string>;
}

/**
 * What a script exports to its programs, as a part of its state. just-bash gives a nested one variables and forgets
 * which of them were exported.
 */
export function exportedIn(
  { exportedVars }: { readonly exportedVars?: ReadonlySet<string> },
  { exported, env = {} }: { readonly exported?: readonly string[]; readonly env?: Readonly<Record<string, string>> },
  depth: number,
): { readonly exportedVars?: Set<string> } {
  if (exported) return { exportedVars: new Set(exported) };
  return depth === 0 ? {} : { exportedVars: new Set([...(exportedVars ?? []), ...Object.keys(env)]) };
}

interface Context {
  readonly state: ShellState;
  /** Runs a script as a part of the one that runs. */
  executeHere(script: ScriptNode): Promise<ExecResult>;
}

interface Interpreter {
  readonly ctx: Context;
  executeScript(script: ScriptNode): Promise<ExecResult>;
}

type Run = () => Promise<ExecResult>;

/** Of all but the last command of a pipeline, stdout is the input of the next one. */
export async function inPipeline(state: ShellState, isLast: boolean, mergesStderr: boolean | undefined, run: Run) {
  const { 1: stdout, 2: stderr } = state.routes ?? noRoutes;
  const routes = isLast ? state.routes : ({ 1: 0, 2: mergesStderr ? 0 : stderr } as const);
  // Its own routes count: what is let out of a command within a pipeline is its stderr alone.
  return within(state, stdout || stderr ? routes : undefined, async () => letOut(state, await run()));
}

/** Runs a command with its redirections. A function's are for its calls. */
export function redirected(
  state: ShellState,
  { type, redirections = [] }: { readonly type?: string; readonly redirections?: SimpleCommandNode["redirections"] },
  run: Run,
): Promise<ExecResult> {
  if (type === "FunctionDef" || redirections.length === 0) return run();
  return within(state, redirections.reduce(redirect, routesOf(state)), run);
}

/** Runs a script whose output its own script takes, as `$(…)` does. */
export function collected(interpreter: Interpreter, script: ScriptNode): Promise<ExecResult> {
  const { ctx } = interpreter;
  return within(ctx.state, undefined, () => withOwnTrap(ctx, () => interpreter.executeScript(script)));
}

/** Runs a script and then what it has set for its end. */
export function withTrap(interpreter: Interpreter, script: ScriptNode): Promise<ExecResult> {
  return thenTrap(interpreter.ctx, () => interpreter.executeScript(script));
}

/** The same for a part that is a shell of its own. */
export async function withOwnTrap(context: Context, run: Run): Promise<ExecResult> {
  const outer = context.state.exitTrap;
  context.state.exitTrap = undefined;
  try {
    return await thenTrap(context, run);
  } finally {
    context.state.exitTrap = outer;
  }
}

async function thenTrap(context: Context, run: Run): Promise<ExecResult> {
  const { state } = context;
  const ended = await untilExit(run);
  const handler = state.exitTrap;
  if (!handler) return finish(ended);
  state.exitTrap = undefined;
  const { exitCode } = ended.result;
  state.lastExitCode = exitCode;
  state.env.set("?", `${exitCode}`);
  const last = await untilExit(() => context.executeHere(evaluation(handler)));
  const result = {
    ...ended.result,
    stdout: ended.result.stdout + last.result.stdout,
    stderr: ended.result.stderr + last.result.stderr,
    internalOutputAccounting: { stdout: 0, stderr: 0 },
    exitCode: last.exit ? last.result.exitCode : exitCode,
  };
  return finish({ result, exit: last.exit ?? ended.exit });
}

/** `exit`, which just-bash throws. */
interface Exit extends Error, ExecResult {}

interface Ended {
  readonly result: ExecResult;
  readonly exit?: Exit | undefined;
}

async function untilExit(run: Run): Promise<Ended> {
  try {
    return { result: await run() };
  } catch (error) {
    if (!isExit(error)) throw error;
    const { stdout, stderr, exitCode } = error;
    return { result: { stdout, stderr, exitCode }, exit: error };
  }
}

function finish({ result, exit }: Ended): ExecResult {
  if (!exit) return result;
  throw Object.assign(exit, result);
}

function isExit(error: unknown): error is Exit {
  return error instanceof Error && error.name === "ExitError" && "exitCode" in error;
}

function evaluation(text: string): ScriptNode {
  const word = (value: string): WordNode => ({ type: "Word", parts: [{ type: "Literal", value }] });
  const statement: StatementNode = {
    type: "Statement",
    pipelines: [
      {
        type: "Pipeline",
        negated: false,
        commands: [
          { type: "SimpleCommand", assignments: [], name: word("eval"), args: [word(text)], redirections: [] },
        ],
      },
    ],
    operators: [],
    background: false,
  };
  return { type: "Script", statements: [statement] };
}
