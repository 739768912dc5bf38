import { pipArguments } from "./packages/pip-command.js";
import type { Interpreter } from "./protocol.js";

/** Names by which the interpreters are started, with or without the directory. */
const names: Readonly<Record<Exclude<Interpreter, "shell">, RegExp>> = {
  python: /^(?:\/usr\/bin\/|\/usr\/local\/bin\/|\/bin\/)?python(?:3(?:\.14)?)?$/,
  javascript: /^(?:\/usr\/bin\/|\/usr\/local\/bin\/|\/bin\/)?node$/,
};

/** What a program runs in, by its name: of all that are no interpreters the shell knows whether they are commands. */
export function interpreterOf(program: string): Interpreter {
  return (["python", "javascript"] as const).find((interpreter) => names[interpreter].test(program)) ?? "shell";
}

/** As {@link interpreterOf}, or `host` for a command that the caller's process carries out. */
export function runnerOf(argv: readonly string[]): Interpreter | "host" {
  return pipArguments(argv) ? "host" : interpreterOf(argv[0] ?? "");
}
