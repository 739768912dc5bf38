import type { Command, CommandName, ResolvedCommandContext } from "just-bash";
import { getCommandNames } from "just-bash/browser";
import { pipArguments } from "../../packages/pip-command.js";
import type { Interpreter } from "../../protocol.js";
import { curl } from "./curl.js";
import { extras, whichWithout } from "./extras.js";
import { runProgram } from "./programs.js";
import { trap } from "./traps.js";
import { unavailable, unavailableWithoutNetwork } from "./unavailable.js";
import { wget } from "./wget.js";

/** Commands of just-bash that need what is not bundled with it. */
const notBundled = new Set<string>(["html-to-markdown", "sqlite3", "tar"]);

const interpreters: Readonly<Record<string, Interpreter>> = {
  python: "python",
  python3: "python",
  "python3.14": "python",
  node: "javascript",
};

/** Commands that the caller's process carries out. */
const hostCommands = ["pip", "pip3", "pip3.14"];

const httpCommands: Readonly<Record<string, Command["execute"]>> = { curl, wget };

/** The commands that just-bash brings and that work here. */
export const builtIn = getCommandNames().filter((name) => !notBundled.has(name)) as CommandName[];

/**
 * The commands of this sandbox beside those: every one that is not just-bash's is registered here.
 * @param hasNetwork Whether those that speak HTTP can
 */
export function ownCommands(hasNetwork: boolean): Command[] {
  return [
    ...Object.entries(interpreters).map(([name, interpreter]) =>
      command(name, (args, context) =>
        runProgram(pipArguments([name, ...args]) ? "host" : interpreter, [name, ...args], context),
      ),
    ),
    ...hostCommands.map((name) => command(name, (args, context) => runProgram("host", [name, ...args], context))),
    command("trap", trap),
    ...Object.entries(extras).map(([name, run]) => command(name, run)),
    command("which", whichWithout(refusedNames(hasNetwork))),
    ...Object.entries(hasNetwork ? httpCommands : {}).map(([name, run]) => command(name, run)),
    ...Object.entries(refusals(hasNetwork)).map(([name, reason]) =>
      command(name, async () => ({
        stdout: "",
        stderr: `sandkit: ${name}: not available in WebAssembly: ${reason}\n`,
        exitCode: 127,
      })),
    ),
  ];
}

/** Names that `which` finds. */
export function commandNames(hasNetwork: boolean): string[] {
  const http = hasNetwork ? Object.keys(httpCommands) : [];
  return [...builtIn, ...Object.keys(interpreters), ...hostCommands, ...Object.keys(extras), "trap", ...http];
}

/** Names that it does not find, of commands that say why they are not there. */
export function refusedNames(hasNetwork: boolean): string[] {
  return Object.keys(refusals(hasNetwork));
}

function refusals(hasNetwork: boolean): Readonly<Record<string, string>> {
  return hasNetwork ? unavailable : { ...unavailable, ...unavailableWithoutNetwork };
}

function command(
  name: string,
  execute: (args: string[], context: ResolvedCommandContext) => ReturnType<Command["execute"]>,
): Command {
  return { name, trusted: true, execute };
}
