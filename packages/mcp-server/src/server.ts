import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Principal } from "./principal.js";
import { Progress } from "./progress.js";
import { errorResult } from "./result/error-result.js";
import type { Runtime } from "./runtime.js";
import type { Surface } from "./surface.js";
import type { ToolContext } from "./tools/tool.js";
import { toolsFor } from "./tools.js";
import { version } from "./version.js";

const instructions =
  "Runs code in isolated sandboxes. State stays between calls: define once, reuse later. A failing program is an ordinary result; read its output and go on. Long output is cut in the middle: write it to a file and read parts of it.";

/**
 * An MCP server over the shared runtime, for one connection (stdio, in memory) or one request (HTTP), without a
 * transport. Nothing is loaded or started before the first `tools/list` or `tools/call`.
 */
export function createServer(runtime: Runtime, principal: Principal): Server {
  const server = new Server(
    { name: "sandkit", title: "Sandkit", version },
    {
      capabilities: { tools: {} },
      instructions,
      cacheHints: { "tools/list": { ttlMs: 3_600_000, cacheScope: "public" } },
    },
  );
  server.setRequestHandler("tools/list", async () => {
    const context = toolContext(runtime, await runtime.surface());
    return { tools: toolsFor(context.surface).map((tool) => tool.describe(context)) };
  });
  server.setRequestHandler("tools/call", async (request, context) =>
    callTool(runtime, principal, request.params, context),
  );
  return server;
}

function toolContext({ config, implicit, idleSeconds }: Runtime, surface: Surface): ToolContext {
  return { config, surface, implicit, idleSeconds };
}

async function callTool(
  runtime: Runtime,
  principal: Principal,
  params: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined },
  context: ServerContext,
): Promise<CallToolResult> {
  const surface = await runtime.surface();
  const tools = toolsFor(surface);
  const tool = tools.find((candidate) => candidate.name === params.name);
  if (tool === undefined) {
    const known = tools.map(({ name }) => name).join(", ");
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `there is no tool "${params.name}": the tools are ${known}`,
    );
  }
  const { signal } = context.mcpReq;
  using progress = new Progress(context);
  try {
    return await tool.call(params.arguments, {
      ...toolContext(runtime, surface),
      sandboxes: runtime.sandboxesOf(principal),
      signal,
      making: { signal, onProgress: progress.say },
    });
  } catch (error) {
    return errorResult(error);
  }
}
