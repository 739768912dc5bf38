import type { CommandSpec } from "../command.js";
import { programExitCodes } from "../exit-codes.js";
import { languageNames } from "../run/languages.js";
import { creationOptions, jsonOption, providerOptions, quietOption } from "../shared-options.js";

/** Runs one program in a sandbox of its own. */
export const runCommand: CommandSpec = {
  name: "run",
  summary: "Run a program in a fresh sandbox",
  usage: ["sandkit run FILE [OPTIONS] [-- ARGUMENTS]", "sandkit run -e CODE [OPTIONS] [-- ARGUMENTS]"],
  notes: [
    "The program has this command's stdin, its stdout and stderr come through byte for byte, and its exit code is",
    "ours. Of this machine's files it sees FILE alone. FILE - reads the program from stdin.",
    "Go and Rust are compiled first; a compiler that refuses gives its messages and its exit code.",
    "Ctrl-C interrupts the program, a second Ctrl-C kills it.",
  ],
  maxPositionals: 1,
  takesRest: true,
  options: {
    eval: { short: "e", value: "CODE", description: "run this code; like python3 -c, it shows what it prints" },
    language: { value: "NAME", description: "default: by the name of FILE, else python", choices: languageNames },
    timeout: { value: "SECONDS", description: "end the program and all it started after this time; default: none" },
    template: {
      value: "NAME",
      description: "starting image: python, node, data, …; default: the language's, where the provider has it",
    },
    ...creationOptions,
    ...jsonOption,
    ...quietOption,
    ...providerOptions,
  },
  examples: [
    { command: "sandkit run -e 'print(2**100)'", shows: "1267650600228229401496703205376" },
    { command: "sandkit run report.py --timeout 10 < sales.csv", shows: "the program reads sales.csv from stdin" },
    { command: "sandkit run --with rich table.py", shows: "a package of Python, installed before the program starts" },
    { command: "sandkit run --allow api.example.com fetch.py", shows: "HTTP to one host, and to no other" },
    { command: "sandkit run --provider docker app.ts", shows: "TypeScript in a container; .js, .go, .rs and .sh too" },
    { command: "sandkit run report.py -- --year 2026", shows: "arguments for the program" },
  ],
  exitCodes: { ...programExitCodes, 125: "sandkit could not start it, or lost its sandbox" },
  run: async (invocation) => (await import("../run/run-program.js")).runProgram(invocation),
};
