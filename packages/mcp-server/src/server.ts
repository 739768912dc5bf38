import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Principal } from "./principal.js";
import { Progress } from "./progress.js";
import { serveResources } from "./resources/serve-resources.js";
import { errorResult } from "./result/error-result.js";
import { abridged } from "./result/text.js";
import type { Runtime } from "./runtime.js";
import type { Surface } from "./surface.js";
import type { ToolContext } from "./tools/tool.js";
import { toolsFor } from "./tools.js";
import { version } from "./version.js";

const instructions =
  "Runs code in isolated sandboxes. State stays between calls: define once, reuse later. A failing program is an ordinary result; read its output and go on. Long output is cut in the middle; a file named in the result has all of it.";

/** What the server says of itself. */
const identity = { name: "sandkit", title: "Sandkit", version };
const options = {
  capabilities: { tools: {}, resources: { subscribe: true }, completions: {} },
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
    const protocolVersion = versionOf(server, context);
    const call = { tool: request.params.name, principal, context, protocolVersion };
    // Links to files came with the protocol of this date; older clients refuse a result that has one.
    const links = protocolVersion !== undefined && protocolVersion >= "2025-06-18";
    return await runtime.observer.call(call, () => callTool(runtime, principal, request.params, context, links));
  });
  serveResources(server, runtime, principal);
  return server;
}

function toolContext({ config, implicit, idleSeconds }: Runtime, surface: Surface): ToolContext {
  return { config, surface, implicit, idleSeconds };
}

function versionOf(server: Server, { http }: ServerContext): string | undefined {
  return server.getNegotiatedProtocolVersion() ?? http?.req?.headers.get("mcp-protocol-version") ?? undefined;
}

async function callTool(
  runtime: Runtime,
  principal: Principal,
  params: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined },
  context: ServerContext,
  links: boolean,
): Promise<CallToolResult> {
  const surface = await runtime.surface();
  const tools = toolsFor(surface);
  const tool = tools.find((candidate) => candidate.name === params.name);
  if (tool === undefined) {
    const known = tools.map(({ name }) => name).join(", ");
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `there is no tool "${abridged(params.name, 100)}": the tools are ${known}`,
    );
  }
  const { signal } = context.mcpReq;
  using progress = new Progress(context);
  const notices: string[] = [];
  const making = { signal, onProgress: progress.say, onNotice: (notice: string) => void notices.push(notice) };
  const sandboxes = runtime.sandboxesOf(principal);
  const runs = runtime.runsOf(principal);
  const changes = runtime.changesOf(principal);
  const call = { ...toolContext(runtime, surface), sandboxes, runs, progress, changes, signal, making, links };
  const result = await tool.call(params.arguments, call).catch(errorResult);
  return { ...result, content: withNotices(notices, result.content) };
}

function withNotices(notices: readonly string[], content: CallToolResult["content"]): CallToolResult["content"] {
  const [first, ...rest] = content;
  if (notices.length === 0 || first?.type !== "text") return content;
  return [{ ...first, text: [...notices, first.text].join("\n") }, ...rest];
}
