import type { CommandSpec } from "../command.js";
import { placeOptions, providerOptions } from "../shared-options.js";

/** Opens a terminal in a living sandbox. */
export const shellCommand: CommandSpec = {
  name: "shell",
  summary: "Open a shell in a living sandbox",
  usage: ["sandkit shell [OPTIONS] REF"],
  notes: [
    "Bash where the sandbox has it, on a terminal of its own: keys, Ctrl-C too, and changes of size go inside.",
    "exit or Ctrl-D leaves; Enter, ~ and . leave a shell that does not answer. The sandbox goes on.",
  ],
  maxPositionals: 1,
  takesRest: false,
  options: {
    ...placeOptions,
    ...providerOptions,
  },
  examples: [{ command: "sandkit shell work", shows: "a prompt in the sandbox of that name" }],
  exitCodes: {
    "0-255": "the shell's own, unless one of these",
    2: "wrong usage, or no terminal",
    125: "sandkit could not start it, or lost the sandbox",
    255: "left by Enter ~ .",
  },
  run: async (invocation) => (await import("../live/open-shell.js")).openShell(invocation),
};
