import type { CommandSpec } from "../command.js";
import { exitCodes } from "../exit-codes.js";
import { providerOptions } from "../shared-options.js";

/** Serves sandboxes to agents. */
export const mcpCommand: CommandSpec = {
  name: "mcp",
  summary: "Serve sandboxes to agents over the Model Context Protocol",
  usage: ["sandkit mcp [stdio | http | example] [OPTIONS]", "sandkit mcp grant ID --principal NAME"],
  notes: [
    "stdio (the default) is for a client that starts this command itself, and ends with it. http listens on this",
    "machine only and asks for a token: SANDKIT_TOKEN, or one that it makes and prints. example is a client: it starts",
    "the server over stdio, runs some code, and prints what both say. grant prints the sandbox_id by which a user of the",
    "server works in a detached sandbox of another program.",
  ],
  maxPositionals: 2,
  takesRest: false,
  options: {
    port: { value: "PORT", description: "http: default 3333; 0: any that is free" },
    host: { value: "HOST", description: "http: address to bind, default 127.0.0.1; another needs SANDKIT_TOKEN" },
    "allow-host": {
      value: "NAME",
      description: "http: a further name by which clients reach the server",
      repeatable: true,
    },
    principal: { value: "NAME", description: "grant: the name of the user's token, or stdio" },
    deps: {
      value: "PACKAGES",
      description: "packages that every sandbox has, separated by commas, as pip names them; repeatable",
      repeatable: true,
    },
    ...providerOptions,
  },
  examples: [
    { command: "sandkit mcp", shows: "what goes into a client's configuration" },
    { command: "sandkit mcp --deps numpy,pandas", shows: "sandboxes that have these packages from the beginning" },
    { command: "sandkit mcp example", shows: "the messages between a client and the server" },
    { command: "sandkit mcp http --port 3333", shows: "prints the address and the token on stderr" },
  ],
  exitCodes: { 0: "ended in order", 1: "failed", 2: exitCodes[2] },
  run: async (invocation) => (await import("../serve-mcp.js")).serveMcp(invocation),
};
