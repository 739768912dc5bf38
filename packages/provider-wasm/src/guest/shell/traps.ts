import type { Command, ScriptNode } from "just-bash";

type FunctionDefinition = Extract<
  ScriptNode["statements"][number]["pipelines"][number]["commands"][number],
  { type: "FunctionDef" }
>;

/** `trap`, which just-bash does not have: what is set for EXIT runs when the script is over. */
export class Traps {
  /** Script for the end; empty when there is none. */
  exit = "";

  readonly command: Command["execute"] = async (args) => {
    if (args.length === 0 || args[0] === "-p") {
      return done(this.exit === "" ? "" : `trap -- '${this.exit.replaceAll("'", "'\\''")}' EXIT\n`);
    }
    const [action = "", ...conditions] = args[0] === "--" ? args.slice(1) : args;
    const names = conditions.map((name) => name.toUpperCase().replace(/^SIG/, ""));
    if (names.includes("EXIT") || names.includes("0")) this.exit = action === "-" ? "" : action;
    const others = names.filter((name) => name !== "EXIT" && name !== "0");
    if (others.length === 0 || action === "-" || action === "") return done("");
    const note = `sandkit: trap: handlers run at EXIT only; a signal ends this shell at once (${others.join(" ")})\n`;
    return { stdout: "", stderr: note, exitCode: 0 };
  };
}

function done(stdout: string) {
  return { stdout, stderr: "", exitCode: 0 };
}

/** The functions that a script defines outside of others, for the handler that runs after it. */
export function functionsOf(script: ScriptNode): ScriptNode["statements"] {
  return script.statements.filter(({ pipelines }) =>
    pipelines.every(({ commands }) =>
      commands.every((command): command is FunctionDefinition => command.type === "FunctionDef"),
    ),
  );
}
