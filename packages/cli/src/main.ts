import { closest } from "./closest.js";
import { commands } from "./commands.js";
import { commandPage, overviewPage } from "./help-page.js";
import { parseCommandLine } from "./parse-command-line.js";
import { paintFor } from "./terminal.js";
import { UsageError } from "./usage-error.js";
import { version } from "./version.js";

/** Runs one command line and resolves with its exit code; failures are told on stderr. */
export async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  let json = asksForJson(rest);
  try {
    if (name === undefined || name === "--help" || name === "-h")
      return show(overviewPage(commands, paintFor(process.stdout)));
    if (name === "--version" || name === "-V") return show(`${version}\n`);
    const command = commands.find((candidate) => candidate.name === name);
    if (!command) throw unknownCommand(name);
    const invocation = parseCommandLine(command, rest);
    json = invocation.values.json === true;
    if (invocation.values.help) return show(commandPage(command, paintFor(process.stdout)));
    return await command.run(invocation);
  } catch (error) {
    const { reportError } = await import("./report-error.js");
    return reportError(error, json);
  }
}

function show(text: string): number {
  process.stdout.write(text);
  return 0;
}

function unknownCommand(name: string): UsageError {
  const names = commands.map((command) => command.name);
  const near = closest(name, names);
  const what = name.startsWith("-") ? "option before the command" : "command";
  const guess = near === undefined ? [] : [{ text: "did you mean", command: `sandkit ${near}` }];
  return new UsageError(`unknown ${what} "${name}"`, [...guess, { text: `commands: ${names.join(", ")}` }]);
}

/** Looked up by hand: it must be known also when the command line cannot be parsed. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end < 0 ? args : args.slice(0, end)).includes("--json");
}
