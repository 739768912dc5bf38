import type { CommandSpec } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { jsonOption, providerOptions } from "../shared-options.js";

/** Sweeps up what lost its owner. */
export const gcCommand: CommandSpec = {
  name: "gc",
  summary: "Remove sandboxes whose owner has died",
  usage: ["sandkit gc [OPTIONS]"],
  notes: [
    "A sandbox whose owner lives is never touched, whoever that is. Images of packages that nobody has used for 30 days",
    "go too. Prints what is removed as ls does.",
  ],
  maxPositionals: 0,
  takesRest: false,
  options: {
    "older-than": { value: "SECONDS", description: "only those older than this; default: 60" },
    "dry-run": { description: "only print what would be removed" },
    ...jsonOption,
    ...providerOptions,
  },
  examples: [{ command: "sandkit gc --provider docker --dry-run", shows: "what would be removed" }],
  exitCodes: { 0: "done, also when there was nothing", 2: exitCodes[2], 3: exitCodes[3], 4: exitCodes[4] },
  run: async (invocation) => (await import("../collect-garbage.js")).collectGarbage(invocation),
};
