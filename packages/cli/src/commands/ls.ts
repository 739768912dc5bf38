import type { CommandSpec } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { jsonOption, labelOption, providerOptions } from "../shared-options.js";

/** Lists living sandboxes. */
export const lsCommand: CommandSpec = {
  name: "ls",
  summary: "List the living sandboxes of a provider",
  usage: ["sandkit ls [OPTIONS]"],
  notes: ["Sandboxes that live in the process that made them (wasm) are known there alone and are not listed."],
  maxPositionals: 0,
  takesRest: false,
  options: {
    ...labelOption,
    ...jsonOption,
    ...providerOptions,
  },
  examples: [
    { command: "sandkit ls --provider docker", shows: "id, name, template, age and end of each" },
    { command: "sandkit ls --provider docker --label task=42", shows: "those of one task" },
  ],
  exitCodes: { 0: "listed, also when there are none", 2: exitCodes[2], 3: exitCodes[3], 4: exitCodes[4] },
  run: async (invocation) => (await import("../list-sandboxes.js")).listSandboxes(invocation),
};
