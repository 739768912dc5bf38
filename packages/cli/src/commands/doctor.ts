import type { CommandSpec } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { jsonOption, providerOptions, quietOption } from "../shared-options.js";

/** Tells what works here, and what to do about what does not. */
export const doctorCommand: CommandSpec = {
  name: "doctor",
  summary: "Check which providers can be used here, and say what to do about the others",
  usage: ["sandkit doctor [PROVIDER…] [OPTIONS]", "sandkit doctor --security [PROVIDER…] [--check NAME] [OPTIONS]"],
  notes: [
    "Asks every provider, or those that are named. The answer is yes when those named are usable; with none named,",
    "when the one is that commands without --provider take. Keys and the home folder are not in the output.",
    "With --security: makes sandboxes of the provider, as the config says, attacks them from inside, and prints what",
    "each attack had. It harms neither this machine nor other sandboxes, and takes some ten seconds. The answer is yes",
    "when every attack was made and none had what it wanted.",
  ],
  maxPositionals: 8,
  takesRest: false,
  options: {
    security: { description: "attack a sandbox from inside, and say what held and what did not" },
    check: {
      value: "NAME",
      description: "with --security: only this check; repeatable",
      choices: ["processes", "files", "limits", "network", "clean-up"],
      repeatable: true,
    },
    ...jsonOption,
    ...quietOption,
    ...providerOptions,
    provider: { ...providerOptions.provider, repeatable: true },
  },
  examples: [
    { command: "sandkit doctor", shows: "all providers, and which is taken by default" },
    { command: "sandkit doctor docker", shows: "one of them; exit code 0 when it can be used" },
    {
      command: "sandkit doctor --security docker",
      shows: "what holds in your containers; exit code 1 when something does not",
    },
    { command: "sandkit doctor --json", shows: "the same as data, for a bug report" },
  ],
  exitCodes: {
    0: "usable; with --security: everything was tried and held",
    1: "not usable, or an attack had what it wanted or could not be made: the output says what to do",
    2: exitCodes[2],
    3: exitCodes[3],
    4: exitCodes[4],
  },
  run: async (invocation) => {
    if (invocation.values.security) return (await import("../doctor/attack-providers.js")).attackProviders(invocation);
    return (await import("../doctor/check-providers.js")).checkProviders(invocation);
  },
};
