import type { CommandSpec, OptionSpec } from "./command.js";
import type { Paint } from "./terminal.js";

/** The page of the whole program: an example first, then the commands. */
export function overviewPage(commands: readonly CommandSpec[], paint: Paint): string {
  const rows = commands.map(({ name, summary }) => [name, summary] as const);
  return [
    "Run code nobody has reviewed yet, in a sandbox.",
    "",
    `  ${paint("cyan", "sandkit run -e 'print(2**100)'")}`,
    "",
    paint("bold", "Commands"),
    ...columns(rows),
    "",
    "sandkit COMMAND --help shows one of them; sandkit help --json is all of this as data.",
    "",
  ].join("\n");
}

/** The page of one command: examples, then options, then exit codes. */
export function commandPage(command: CommandSpec, paint: Paint): string {
  const options = Object.entries(command.options).map(
    ([name, spec]) => [optionLabel(name, spec), about(spec)] as const,
  );
  return [
    `${command.summary}.`,
    "",
    ...command.usage.map((line) => `  ${line}`),
    "",
    ...command.notes,
    ...(command.notes.length > 0 ? [""] : []),
    paint("bold", "Examples"),
    ...command.examples.flatMap(({ command: line, shows }) => [`  ${paint("cyan", line)}`, `      ${shows}`]),
    "",
    paint("bold", "Options"),
    ...columns(options),
    "",
    paint("bold", "Exit codes"),
    ...columns(Object.entries(command.exitCodes)),
    "",
  ].join("\n");
}

function optionLabel(name: string, { short, value }: OptionSpec): string {
  const letter = short === undefined ? "    " : `-${short}, `;
  return `${letter}--${name}${value === undefined ? "" : ` ${value}`}`;
}

function about({ description, choices }: OptionSpec): string {
  return choices ? `${description}: ${choices.join(", ")}` : description;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
