import type { CommandSpec } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { commonOptions } from "../shared-options.js";

/** The command by which shells complete all of them. */
export function completionCommand(commands: () => readonly CommandSpec[]): CommandSpec {
  return {
    name: "completion",
    summary: "Print what lets a shell complete these commands",
    usage: ["sandkit completion bash | zsh | fish"],
    notes: [
      "Completes commands, options, their values, and the names of living sandboxes. Of the words after -- it prints what",
      "the last one can become, a line each.",
    ],
    maxPositionals: 1,
    takesRest: true,
    argument: { from: ["bash", "zsh", "fish"] },
    options: commonOptions,
    examples: [
      { command: "source <(sandkit completion bash)", shows: "a line for ~/.bashrc; for ~/.zshrc with zsh" },
      { command: "sandkit completion fish | source", shows: "a line for ~/.config/fish/config.fish" },
    ],
    exitCodes: { 0: exitCodes[0], 2: exitCodes[2] },
    run: async (invocation) =>
      (await import("../completion/print-completion.js")).printCompletion(commands(), invocation),
  };
}
