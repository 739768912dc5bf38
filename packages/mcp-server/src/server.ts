import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
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
import type { Tool, ToolCall, ToolContext } from "./tools/tool.js";
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
    return await callTool(runtime, { principal, server, context, params: request.params });
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

/** One `tools/call`, with all that it came with. */
interface Asked {
  readonly principal: Principal;
  readonly server: Server;
  readonly context: ServerContext;
  readonly params: CallToolRequest["params"];
}

async function callTool(runtime: Runtime, asked: Asked): Promise<CallToolResult | InputRequiredResult> {
  const { principal, server, context, params } = asked;
  const surface = await runtime.surface();
  const tool = toolNamed(params.name, surface);
  const protocolVersion = versionOf(server, context);
  const { signal } = context.mcpReq;
  using progress = new Progress(context);
  const notices: string[] = [];
  const call: ToolCall = {
    ...toolContext(runtime, surface),
    sandboxes: runtime.sandboxesOf(principal),
    runs: runtime.runsOf(principal),
    progress,
    changes: runtime.changesOf(principal),
    signal,
    making: { signal, onProgress: progress.say, onNotice: (notice: string) => void notices.push(notice) },
    // Links to files came with the protocol of this date; older clients refuse a result that has one.
    links: protocolVersion !== undefined && protocolVersion >= "2025-06-18",
  };
  const observe = (work: () => Promise<CallToolResult>) =>
    runtime.observer.call({ tool: tool.name, principal, context, protocolVersion }, async () => {
      const result = await work().catch(errorResult);
      return { ...result, content: withNotices(notices, result.content) };
    });
  try {
    const prepared = await tool.prepare(params.arguments, call);
    const { act, question } = prepared;
    const modern = protocolVersion !== undefined && protocolVersion >= "2026";
    const pending = {
      ...asked,
      tool: tool.name,
      input: params.arguments,
      changes: act.changes,
      question,
      modern,
      onAsk: () => progress.say("waiting for the approval of the user"),
    };
    const decision = await runtime.approvals.decide(pending);
    if ("ask" in decision) return decision.ask;
    const work = async () => {
      if (decision.error !== undefined) throw decision.error;
      return await prepared.run(call);
    };
    const { auditor } = runtime;
    if (auditor === undefined) return await observe(work);
    const audited = { tool: tool.name, principal, input: params.arguments, text: act.text };
    return await auditor.call(
      audited,
      decision,
      (id) => call.runs.list().find((run) => run.id === id),
      () => observe(work),
    );
  } catch (error) {
    return await observe(() => Promise.reject(error));
  }
}

/** @throws ProtocolError for a tool that is not there */
function toolNamed(name: string, surface: Surface): Tool {
  const tools = toolsFor(surface);
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool !== undefined) return tool;
  const known = tools.map((candidate) => candidate.name).join(", ");
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `there is no tool "${abridged(name, 100)}": the tools are ${known}`,
  );
}

function withNotices(notices: readonly string[], content: CallToolResult["content"]): CallToolResult["content"] {
  const [first, ...rest] = content;
  if (notices.length === 0 || first?.type !== "text") return content;
  return [{ ...first, text: [...notices, first.text].join("\n") }, ...rest];
}
