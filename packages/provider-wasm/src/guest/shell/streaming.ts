import type { CommandNode, PipelineNode, ScriptNode, StatementNode, WordNode } from "just-bash";

type Redirection = Extract<CommandNode, { type: "SimpleCommand" }>["redirections"][number];
type Compound = Exclude<CommandNode, { type: "SimpleCommand" } | { type: "FunctionDef" }>;

/** Where the output of a script goes while it runs. */
export interface StreamTargets {
  readonly stdout: string;
  readonly stderr: string;
  /** Marks a program whose output may go there as it comes. */
  readonly direct: string;
  /** Whether the name may be that of a file that is a program. */
  readonly isProgram: (name: string) => boolean;
}

/**
 * Lets a script's output out while it runs: just-bash gives the whole of it at the end. Each command whose output is
 * the script's own is given the two streams as its stdout and stderr, before its own redirections, as a shell that
 * starts it would. What is inside of functions, pipes and substitutions comes out with the command that it is part of.
 */
export function streamOutput(script: ScriptNode, targets: StreamTargets): void {
  // One that redirects the shell itself must find its output there, not where it was at the start.
  if (script.statements.some(redirectsShell)) return;
  // One whose name is a function's here has what is in it collected, as all of that function.
  const functions = new Set(script.statements.flatMap(functionNames));
  const isProgram = (name: string) => !functions.has(name) && (programs.has(name) || targets.isProgram(name));
  for (const statement of script.statements) streamStatement(statement, { ...targets, isProgram });
}

function functionNames({ pipelines }: StatementNode): string[] {
  const commands = pipelines.flatMap((pipeline) => pipeline.commands);
  return commands.flatMap((command) => {
    if (command.type === "FunctionDef") return [command.name];
    return command.type === "SimpleCommand" ? [] : (partsOf(command) ?? []).flatMap(functionNames);
  });
}

function streamStatement(statement: StatementNode, targets: StreamTargets): void {
  for (const pipeline of statement.pipelines) streamPipeline(pipeline, targets);
}

function streamPipeline({ commands, pipeStderr }: PipelineNode, targets: StreamTargets): void {
  const last = commands.length - 1;
  for (const [index, command] of commands.entries()) {
    if (index < last) {
      if (!pipeStderr?.[index]) redirect(command, [{ fd: 2, path: targets.stderr }]);
    } else if (last > 0 || !streamParts(command, targets)) {
      markDirect(command, targets);
      redirect(command, [
        { fd: 1, path: targets.stdout },
        { fd: 2, path: targets.stderr },
      ]);
    }
  }
}

/** Streams the commands within a command one by one; false where it has to be taken as a whole. */
function streamParts(command: CommandNode, targets: StreamTargets): boolean {
  if (command.type === "FunctionDef") return true;
  if (command.type === "SimpleCommand" || command.redirections.length > 0) return false;
  const parts = partsOf(command);
  for (const statement of parts ?? []) streamStatement(statement, targets);
  return parts !== undefined;
}

function partsOf(command: Compound): readonly StatementNode[] | undefined {
  switch (command.type) {
    case "If":
      return [
        ...command.clauses.flatMap(({ condition, body }) => [...condition, ...body]),
        ...(command.elseBody ?? []),
      ];
    case "While":
    case "Until":
      return [...command.condition, ...command.body];
    case "For":
    case "CStyleFor":
    case "Group":
    case "Subshell":
      return command.body;
    case "Case":
      return command.items.flatMap(({ body }) => body);
    default:
      return undefined;
  }
}

function redirect(command: CommandNode, targets: readonly { readonly fd: number; readonly path: string }[]): void {
  if (command.type === "FunctionDef") return;
  // An assignment alone has no output, and is not to be made a command.
  if (command.type === "SimpleCommand" && !command.name) return;
  const own = targets.map(
    ({ fd, path }): Redirection => ({ type: "Redirection", fd, operator: ">>", target: literal(path) }),
  );
  command.redirections.unshift(...own);
}

const programs = new Set(["python", "python3", "python3.14", "node", "pip", "pip3", "pip3.14"]);
const inputs = new Set(["<", "<<", "<<-", "<<<"]);

function markDirect(command: CommandNode, { direct, isProgram }: StreamTargets): void {
  if (command.type !== "SimpleCommand" || !command.name) return;
  const name = literalOf(command.name);
  if (name === "" || !isProgram(name)) return;
  if (!command.redirections.every(({ operator, fd }) => inputs.has(operator) && (fd ?? 0) === 0)) return;
  command.assignments.push({ type: "Assignment", name: direct, value: literal("1"), append: false, array: null });
}

function redirectsShell(statement: StatementNode): boolean {
  return statement.pipelines.some(({ commands }) =>
    commands.some((command) => {
      if (command.type !== "SimpleCommand") {
        return command.type !== "FunctionDef" && (partsOf(command) ?? []).some(redirectsShell);
      }
      return command.name !== null && literalOf(command.name) === "exec" && command.args.length === 0;
    }),
  );
}

function literalOf({ parts }: WordNode): string {
  const [part] = parts;
  return parts.length === 1 && part?.type === "Literal" ? part.value : "";
}

function literal(value: string): WordNode {
  return { type: "Word", parts: [{ type: "Literal", value }] };
}
