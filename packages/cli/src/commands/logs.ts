import type { CommandSpec } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { providerOptions } from "../shared-options.js";

/** Shows what detached programs print. */
export const logsCommand: CommandSpec = {
  name: "logs",
  summary: "Show what programs started by exec --detach have printed",
  usage: ["sandkit logs [OPTIONS] REF", "sandkit logs [OPTIONS] REF PROGRAM"],
  notes: [
    "Without PROGRAM: lists them, with their state. A sandbox keeps no log of anything else: what other programs print",
    "goes to whoever started them. The output is a file of the sandbox, which programs in it could change.",
  ],
  maxPositionals: 2,
  takesRest: false,
  options: {
    follow: { short: "f", description: "go on until the program ends" },
    json: { description: "the list as one JSON document" },
    ...providerOptions,
  },
  examples: [
    { command: "sandkit logs work", shows: "what was started, and whether it runs" },
    { command: "sandkit logs --follow work 5f0c2a91", shows: "its output, until it ends" },
  ],
  exitCodes: { 0: "shown", 1: "no such sandbox or program", 2: exitCodes[2], 3: exitCodes[3], 4: exitCodes[4] },
  run: async (invocation) => (await import("../live/show-logs.js")).showLogs(invocation),
};
