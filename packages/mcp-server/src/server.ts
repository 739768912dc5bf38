import { Server } from "@modelcontextprotocol/server";
import { callTool, toolContext } from "./call-tool.js";
import { serveLogging } from "./output-messages.js";
import type { Principal } from "./principal.js";
import { serveResources } from "./resources/serve-resources.js";
import type { Runtime } from "./runtime.js";
import { toolsFor } from "./tools.js";
import { version } from "./version.js";

const instructions =
  "Runs code in isolated sandboxes. State stays between calls: define once, reuse later. A failing program is an ordinary result; read its output and go on. Long output is cut in the middle; a file named in the result has all of it.";

/** What the server says of itself. */
const identity = { name: "sandkit", title: "Sandkit", version };
const options = {
  capabilities: { tools: {}, resources: { subscribe: true }, completions: {}, logging: {} },
  instructions,
  cacheHints: { "tools/list": { ttlMs: 3_600_000, cacheScope: "public" } },
} as const;

/**
 * An MCP server over the shared runtime, for one connection (stdio, in memory) or one request (HTTP), without a
 * transport. Nothing is loaded or started before the first `tools/list` or `tools/call`.
 * @param server The one that gets the handlers, where it is to have more than these.
 */
export function createServer(runtime: Runtime, principal: Principal, server = new Server(identity, options)): Server {
  server.setRequestHandler("tools/list", async () => {
    const context = toolContext(runtime, await runtime.surface());
    return { tools: toolsFor(context.surface).map((tool) => tool.describe(context)) };
  });
  server.setRequestHandler("tools/call", async (request, context) => {
    return await callTool(runtime, { principal, server, context, params: request.params });
  });
  serveLogging(server);
  serveResources(server, runtime, principal);
  return server;
}
