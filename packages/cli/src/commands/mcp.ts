import { type CommandSpec, sharedOptions } from "../command.js";
import { exitCodes } from "../exit-codes.js";

/** Serves sandboxes to agents. */
export const mcpCommand: CommandSpec = {
  name: "mcp",
  summary: "Serve sandboxes to agents over the Model Context Protocol",
  usage: ["sandkit mcp [stdio | http] [OPTIONS]"],
  notes: [
    "stdio (the default) is for a client that starts this command itself, and ends with it. http listens on this",
    "machine only and asks for a token.",
  ],
  maxPositionals: 1,
  takesRest: false,
  options: {
    port: { value: "PORT", description: "http: the port to listen on" },
    provider: sharedOptions.provider,
    config: sharedOptions.config,
    json: { description: "errors as JSON on stderr" },
    "no-color": sharedOptions["no-color"],
    help: sharedOptions.help,
  },
  examples: [
    { command: "sandkit mcp", shows: "what goes into a client's configuration" },
    { command: "sandkit mcp http --port 7777", shows: "prints the address and the token on stderr" },
  ],
  exitCodes,
  run: async (invocation) => (await import("../serve-mcp.js")).serveMcp(invocation),
};
