import type { CommandSpec } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { commonOptions, jsonOption, providerOptions } from "../shared-options.js";

/** Tells a client how to start the server. */
export const initCommand: CommandSpec = {
  name: "init",
  summary: "Put the MCP server into a client's configuration",
  usage: ["sandkit init", "sandkit init --client NAME [OPTIONS]"],
  notes: [
    "Adds one entry and leaves everything else as it is, comments too. Another entry of the same name is shown and",
    "left alone. Without --client: lists the clients, which of them are here, and which have the server.",
  ],
  maxPositionals: 0,
  takesRest: false,
  options: {
    client: {
      value: "NAME",
      description: "whose configuration",
      choices: ["claude", "claude-code", "cursor", "vscode", "windsurf", "codex"],
    },
    print: { description: "only print the entry, as a whole file" },
    "dry-run": { description: "only show what would change in the file" },
    force: { description: "put it in the place of another entry of the same name" },
    name: { value: "NAME", description: "of the entry; default: sandkit" },
    provider: { ...providerOptions.provider, description: "the provider that the server starts with" },
    config: { value: "FILE", description: "config file of the server" },
    env: {
      value: "NAME=VALUE",
      description: "environment of the server, such as the key of a cloud; repeatable",
      repeatable: true,
    },
    start: {
      value: "HOW",
      description: "by the path of this installation, or by npx; default: as this command was started",
      choices: ["path", "npx"],
    },
    ...jsonOption,
    ...commonOptions,
  },
  examples: [
    { command: "sandkit init", shows: "which clients are here" },
    { command: "sandkit init --client claude-code", shows: "writes the entry, and says what to do next" },
    { command: "sandkit init --client vscode --dry-run", shows: "the difference to the file that is there" },
    { command: "sandkit init --client codex --provider docker --print", shows: "the entry, for another place" },
  ],
  exitCodes: {
    0: "written, or there already",
    1: "another entry has the name",
    2: exitCodes[2],
    3: "the file cannot be read or written, or is not what the client reads",
    4: "the file was changed by somebody else meanwhile",
  },
  run: async (invocation) => (await import("../setup/set-up-client.js")).setUpClient(invocation),
};
