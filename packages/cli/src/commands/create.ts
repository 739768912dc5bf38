import type { CommandSpec } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { creationOptions, jsonOption, providerOptions, quietOption } from "../shared-options.js";

/** Makes a sandbox that outlives the command. */
export const createCommand: CommandSpec = {
  name: "create",
  summary: "Start a sandbox that goes on, and print its id",
  usage: ["sandkit create [OPTIONS]"],
  notes: [
    "It ends some minutes after its last use (with docker: leaseMs of its options, default 5 minutes), at --ttl, or by",
    "sandkit rm. With a --name that lives already: prints that one's id.",
    "Sandboxes of wasm live in the process that made them, so there is nothing to create here.",
  ],
  maxPositionals: 0,
  takesRest: false,
  options: {
    name: { value: "NAME", description: "to call it by; there is one of each name" },
    template: { value: "NAME", description: "starting image: python, node, data, …; default: python" },
    env: {
      short: "e",
      value: "NAME=VALUE",
      description: "environment of all that runs in it; repeatable",
      repeatable: true,
    },
    ...creationOptions,
    cpus: { value: "NUMBER", description: "processors, fractions allowed" },
    memory: { value: "MIB", description: "memory, in MiB" },
    disk: { value: "MIB", description: "files, in MiB" },
    ttl: { value: "SECONDS", description: "end it after this time, used or not" },
    idle: { value: "SECONDS", description: "end it after this time without use" },
    ...jsonOption,
    ...quietOption,
    ...providerOptions,
  },
  examples: [
    { command: "sandkit create --provider docker", shows: "its id, for exec, shell, cp and rm" },
    { command: "sandkit create --name work --memory 1024", shows: "one to be called by its name" },
  ],
  exitCodes: {
    0: "it lives",
    1: "another has the name",
    2: exitCodes[2],
    3: exitCodes[3],
    4: exitCodes[4],
    130: exitCodes[130],
  },
  run: async (invocation) => (await import("../live/create-live.js")).createLive(invocation),
};
