import { type CommandSpec, sharedOptions } from "../command.js";

/** How programs in a living sandbox are started. */
export const placeOptions = {
  env: { short: "e", value: "NAME=VALUE", description: "environment of the program; repeatable", repeatable: true },
  cwd: { value: "PATH", description: "directory to start in; default: the sandbox's own" },
  user: { value: "USER", description: "who runs it, where the provider can choose" },
} as const;

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
    ...sharedOptions,
  },
  examples: [
    { command: "sandkit exec work python3 -c 'print(2**100)'", shows: "1267650600228229401496703205376" },
    { command: "sandkit exec work sh -c 'ls | wc -l'", shows: "a command line" },
    {
      command: "sandkit exec --detach work python3 server.py",
      shows: "a number; sandkit logs work NUMBER has its output",
    },
  ],
  exitCodes: {
    "0-255": "the program's own, unless one of these",
    2: "wrong usage of sandkit",
    124: "the program was ended at its deadline",
    125: "sandkit could not start it, or there is no such sandbox",
    126: "found but not executable",
    127: "not found in the sandbox",
    130: "interrupted",
    137: "the program used too much memory, or was killed",
    70: "a defect of sandkit",
  },
  run: async (invocation) => (await import("../live/exec-live.js")).execLive(invocation),
};
