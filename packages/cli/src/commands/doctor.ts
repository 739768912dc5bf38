import { type CommandSpec, sharedOptions } from "../command.js";
import { exitCodes } from "../exit-codes.js";

/** Tells what works here, and what to do about what does not. */
export const doctorCommand: CommandSpec = {
  name: "doctor",
  summary: "Check which providers can be used here, and say what to do about the others",
  usage: ["sandkit doctor [PROVIDER…] [OPTIONS]"],
  notes: [
    "Asks every provider, or those that are named. The answer is yes when those named are usable; with none named,",
    "when the one is that commands without --provider take. Keys and the home folder are not in the output.",
  ],
  maxPositionals: 8,
  takesRest: false,
  options: {
    provider: { ...sharedOptions.provider, repeatable: true },
    config: sharedOptions.config,
    json: sharedOptions.json,
    "no-color": sharedOptions["no-color"],
    help: sharedOptions.help,
  },
  examples: [
    { command: "sandkit doctor", shows: "all providers, and which is taken by default" },
    { command: "sandkit doctor docker", shows: "one of them; exit code 0 when it can be used" },
    { command: "sandkit doctor --json", shows: "the same as data, for a bug report" },
  ],
  exitCodes: { 0: "usable", 1: "not usable: the output says what to do", 2: exitCodes[2] },
  run: async (invocation) => (await import("../doctor/check-providers.js")).checkProviders(invocation),
};
