import type { CommandSpec } from "../command.js";
import { programExitCodes } from "../exit-codes.js";
import { jsonOption, placeOptions, providerOptions, quietOption } from "../shared-options.js";

/** Runs one program in a living sandbox. */
export const execCommand: CommandSpec = {
  name: "exec",
  summary: "Run a program in a living sandbox",
  usage: ["sandkit exec [OPTIONS] REF COMMAND [ARGUMENTS]"],
  notes: [
    "REF is the id that sandkit ls shows, the beginning of it, or the name. Everything after it is the program's.",
    "The program has this command's stdin; its stdout and stderr come through byte for byte, and its exit code is ours.",
    "No shell is involved: sh -c '…' has one. Ctrl-C interrupts the program, a second Ctrl-C kills it.",
  ],
  maxPositionals: 1,
  takesRest: true,
  restAfter: 1,
  options: {
    ...placeOptions,
    timeout: { value: "SECONDS", description: "end the program and all it started after this time; default: none" },
    detach: { short: "d", description: "let it go on, and print its number for sandkit logs" },
    ...jsonOption,
    ...quietOption,
    ...providerOptions,
  },
  examples: [
    { command: "sandkit exec work python3 -c 'print(2**100)'", shows: "1267650600228229401496703205376" },
    { command: "sandkit exec work sh -c 'ls | wc -l'", shows: "a command line" },
    {
      command: "sandkit exec --detach work python3 server.py",
      shows: "a number; sandkit logs work NUMBER has its output",
    },
  ],
  exitCodes: { ...programExitCodes, 125: "sandkit could not start it, or there is no such sandbox" },
  run: async (invocation) => (await import("../live/exec-live.js")).execLive(invocation),
};
