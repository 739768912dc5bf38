import type { CommandSpec } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { jsonOption, labelOption, providerOptions } from "../shared-options.js";

/** Ends living sandboxes. */
export const rmCommand: CommandSpec = {
  name: "rm",
  summary: "End living sandboxes with all that is in them",
  usage: ["sandkit rm [OPTIONS] REF…", "sandkit rm --all [--label KEY=VALUE] [OPTIONS]"],
  notes: [
    "Prints the id of each that is gone. One that cannot be found does not keep the others. --all asks first, and without",
    "a terminal needs --yes; sandboxes that end with a living program of their own are left alone.",
  ],
  maxPositionals: 1000,
  takesRest: false,
  options: {
    all: { description: "every living sandbox of the provider" },
    ...labelOption,
    yes: { short: "y", description: "do not ask" },
    ...jsonOption,
    ...providerOptions,
  },
  examples: [
    { command: "sandkit rm work", shows: "the id of the sandbox that is gone" },
    { command: "sandkit rm --all --label task=42 --yes", shows: "those of one task, without a question" },
  ],
  exitCodes: {
    0: "gone",
    1: "one does not exist, or the answer was no",
    2: exitCodes[2],
    3: exitCodes[3],
    4: exitCodes[4],
  },
  run: async (invocation) => (await import("../live/remove-sandboxes.js")).removeSandboxes(invocation),
};
