import type { CommandSpec, Invocation } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { commandPage, overviewPage } from "../help-page.js";
import { commonOptions } from "../shared-options.js";
import { paintFor } from "../terminal.js";
import { UsageError } from "../usage-error.js";
import { version } from "../version.js";

/** The command that describes the others. */
export function helpCommand(described: readonly CommandSpec[]): CommandSpec {
  const command: CommandSpec = {
    name: "help",
    summary: "Describe the commands, as text or as data",
    usage: ["sandkit help [COMMAND] [--json]"],
    notes: [],
    maxPositionals: 1,
    takesRest: false,
    options: {
      json: { description: "all commands, options and exit codes as one JSON document" },
      ...commonOptions,
    },
    examples: [{ command: "sandkit help run", shows: "how to run a program" }],
    exitCodes: { 0: exitCodes[0], 2: exitCodes[2] },
    run: async (invocation) => showHelp([...described, command], invocation),
  };
  return command;
}

function showHelp(commands: readonly CommandSpec[], { values, positionals }: Invocation): number {
  const [name] = positionals;
  const chosen = commands.find((command) => command.name === name);
  if (name !== undefined && !chosen) {
    const names = commands.map((command) => command.name).join(", ");
    throw new UsageError(`no command "${name}"`, [{ text: `one of: ${names}` }]);
  }
  const paint = paintFor(process.stdout);
  if (values.json) {
    const described = chosen ? [chosen] : commands;
    process.stdout.write(`${JSON.stringify({ name: "sandkit", version, commands: described, exitCodes }, null, 2)}\n`);
  } else process.stdout.write(chosen ? commandPage(chosen, paint) : overviewPage(commands, paint));
  return 0;
}
