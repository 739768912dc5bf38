import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Decision } from "./approval/approvals.js";
import { OutputMessages } from "./output-messages.js";
import type { Principal } from "./principal.js";
import { Progress } from "./progress.js";
import { errorResult } from "./result/error-result.js";
import { abridged } from "./result/text.js";
import type { Runtime } from "./runtime.js";
import type { Surface } from "./surface.js";
import type { Tool, ToolCall, ToolContext } from "./tools/tool.js";
import { toolsFor } from "./tools.js";

/** One `tools/call`, with all that it came with. */
export interface Asked {
  readonly principal: Principal;
  readonly server: Server;
  readonly context: ServerContext;
  readonly params: CallToolRequest["params"];
}

/** What is decided of a call before anything of it begins. */
interface Prepared {
  /** Absent: it was refused before anybody decided on it. */
  readonly decision?: Decision | undefined;
  /** What runs or is written. */
  readonly text?: string | undefined;
  readonly work: () => Promise<CallToolResult>;
}

/** What tools are described by, and work with. */
export function toolContext({ config, implicit, idleSeconds }: Runtime, surface: Surface): ToolContext {
  return { config, surface, implicit, idleSeconds };
}

/**
 * Answers one call of a tool: its arguments are checked, a person is asked where the config says so, it is done, and all
 * of that is recorded, a refusal too.
 * @throws ProtocolError for a tool that is not there
 */
export async function callTool(runtime: Runtime, asked: Asked): Promise<CallToolResult | InputRequiredResult> {
  const { principal, server, context, params } = asked;
  const surface = await runtime.surface();
  const tool = toolsFor(surface).find(({ name }) => name === params.name);
  if (tool === undefined) {
    runtime.auditor?.unknownTool(principal, params.arguments);
    throw unknownTool(params.name, surface);
  }
  const protocolVersion = versionOf(server, context);
  using progress = new Progress(context);
  using output = new OutputMessages(server, context);
  const notices: string[] = [];
  const call = toolCall(runtime, { asked, surface, protocolVersion, progress, output, notices });
  const prepared = await prepare(runtime, { asked, tool, call, protocolVersion });
  if ("ask" in prepared) return prepared.ask;
  const observed = (begin: () => Promise<void>) =>
    runtime.observer.call({ tool: tool.name, principal, context, protocolVersion }, async () => {
      const result = await begin().then(prepared.work).catch(errorResult);
      return { ...result, content: withNotices(notices, result.content) };
    });
  const { auditor } = runtime;
  if (auditor === undefined) return await observed(async () => undefined);
  const audited = { tool: tool.name, principal, input: params.arguments, text: prepared.text };
  const findRun = (id: string) => call.runs.list().find((run) => run.id === id);
  return await auditor.call(audited, prepared.decision, findRun, observed);
}

interface Parts {
  readonly asked: Asked;
  readonly surface: Surface;
  readonly protocolVersion: string | undefined;
  readonly progress: Progress;
  readonly output: OutputMessages;
  readonly notices: string[];
}

function toolCall(runtime: Runtime, parts: Parts): ToolCall {
  const { asked, surface, protocolVersion, progress, output, notices } = parts;
  const { principal } = asked;
  const { signal } = asked.context.mcpReq;
  return {
    ...toolContext(runtime, surface),
    sandboxes: runtime.sandboxesOf(principal),
    snapshots: runtime.snapshotsOf(principal),
    runs: runtime.runsOf(principal),
    progress,
    output,
    changes: runtime.changesOf(principal),
    signal,
    making: { signal, onProgress: progress.say, onNotice: (notice: string) => void notices.push(notice) },
    // Links to files came with the protocol of this date; older clients refuse a result that has one.
    links: protocolVersion !== undefined && protocolVersion >= "2025-06-18",
  };
}

interface Preparing {
  readonly asked: Asked;
  readonly tool: Tool;
  readonly call: ToolCall;
  readonly protocolVersion: string | undefined;
}

/** What a call will do, or what to ask a person first. What does not fit, or cannot be asked, fails as its work. */
async function prepare(
  runtime: Runtime,
  { asked, tool, call, protocolVersion }: Preparing,
): Promise<Prepared | { readonly ask: InputRequiredResult }> {
  const input = asked.params.arguments;
  let text: string | undefined;
  try {
    const { act, question, run } = await tool.prepare(input, call);
    text = act.text;
    const decision = await runtime.approvals.decide({
      ...asked,
      tool: tool.name,
      input,
      changes: act.changes,
      question,
      modern: protocolVersion !== undefined && protocolVersion >= "2026",
      onAsk: () => call.progress.say("waiting for the approval of the user"),
    });
    if ("ask" in decision) return decision;
    const { error } = decision;
    return { decision, text, work: error === undefined ? () => run(call) : () => Promise.reject(error) };
  } catch (error) {
    return { text, work: () => Promise.reject(error) };
  }
}

function versionOf(server: Server, { http }: ServerContext): string | undefined {
  return server.getNegotiatedProtocolVersion() ?? http?.req?.headers.get("mcp-protocol-version") ?? undefined;
}

function unknownTool(name: string, surface: Surface): ProtocolError {
  const known = toolsFor(surface)
    .map((tool) => tool.name)
    .join(", ");
  const message = `there is no tool "${abridged(name, 100)}": the tools are ${known}`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

function withNotices(notices: readonly string[], content: CallToolResult["content"]): CallToolResult["content"] {
  const [first, ...rest] = content;
  if (notices.length === 0 || first?.type !== "text") return content;
  return [{ ...first, text: [...notices, first.text].join("\n") }, ...rest];
}
