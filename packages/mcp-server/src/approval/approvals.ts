import { createHash, randomUUID } from "node:crypto";
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type ElicitResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type RequestStateCodec,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { SandboxError } from "@sandkit/core";
import type { Config } from "../config.js";
import type { Principal } from "../principal.js";
import { isAsked } from "./policy.js";

/** Answers that are remembered, so that each lets one call through. */
const maxUsed = 10_000;
const requestedSchema = {
  type: "object" as const,
  properties: { approve: { type: "boolean" as const, title: "Approve", description: "Let it run, this once" } },
  required: ["approve"],
};

/** Whether a call goes on, and who said so. */
export interface Decision {
  readonly decision: "allowed" | "denied";
  /** `policy`: the config asks nobody. `user`: a person was asked. `default`: nobody could be asked or answered. */
  readonly by: "policy" | "user" | "default";
  /** What a denied call answers. */
  readonly error?: SandboxError | undefined;
}

/** What is answered instead, so that the client asks. */
export interface Question {
  readonly ask: InputRequiredResult;
}

/** A call that may have to be asked about. */
export interface PendingCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>> | undefined;
  readonly changes: boolean;
  /** What the person is shown. @throws SandboxError when it cannot be shown */
  readonly question: () => string;
  readonly principal: Principal;
  readonly server: Server;
  readonly context: ServerContext;
  /** Of the protocols of 2026 on, where a question is an answer and the call comes again with what was said. */
  readonly modern: boolean;
  /** Told before a person is waited for. */
  readonly onAsk: () => void;
}

/** Asks the person behind a client before calls that the config names. Nothing has begun while they think. */
export class Approvals {
  readonly #config: Config;
  readonly #used = new Set<string>();
  readonly #closing = new AbortController();

  constructor(config: Config) {
    this.#config = config;
  }

  /** Stops waiting for people: what they were asked about is denied. */
  close(): void {
    this.#closing.abort(new Error("the server is shutting down"));
  }

  /** @throws SandboxError when the call cannot be shown, or what came back belongs to another call */
  async decide(call: PendingCall): Promise<Decision | Question> {
    const { approval, approvalDefault } = this.#config;
    if (!isAsked(approval, call.tool, call.changes)) return { decision: "allowed", by: "policy" };
    const message = call.question();
    if (canAsk(call)) return await (call.modern ? this.#askByAnswer(call, message) : this.#askNow(call, message));
    if (approvalDefault === "allow") return { decision: "allowed", by: "default" };
    const why = `this server asks a person before ${call.tool}, and this client cannot ask one (it has no elicitation)`;
    return denied("default", `${why}: tell the user to use a client that can, or to change "approval" of the config`);
  }

  /** The protocols of 2025: a request of the server's own, while the call waits. */
  async #askNow({ context, tool, onAsk }: PendingCall, message: string): Promise<Decision> {
    const { signal } = context.mcpReq;
    const timeout = this.#config.approvalSeconds * 1000;
    onAsk();
    try {
      const params = { mode: "form" as const, message, requestedSchema };
      return outcome(
        tool,
        await context.mcpReq.elicitInput(params, { signal: AbortSignal.any([signal, this.#closing.signal]), timeout }),
      );
    } catch (cause) {
      signal.throwIfAborted();
      const detail = cause instanceof Error ? cause.message : String(cause);
      return denied("default", `nobody approved ${tool} (${detail}): ask the user, then call again`, cause);
    }
  }

  /** The protocol of 2026: the question is the answer, sealed with what it was about; the next call brings both back. */
  async #askByAnswer(call: PendingCall, message: string): Promise<Decision | Question> {
    const { mcpReq } = call.context;
    const codec = this.#codecOf(call);
    const response = inputResponse(mcpReq.inputResponses, "approval");
    if (response.kind !== "elicit") {
      const approval = inputRequired.elicit({ message, requestedSchema });
      const requestState = await codec.mint({ once: randomUUID() }, call.context);
      return { ask: inputRequired({ inputRequests: { approval }, requestState }) };
    }
    const once = await this.#verified(codec, call);
    if (once === undefined || this.#used.has(once)) {
      const message = `the answer of the user belongs to another call of ${call.tool}, or is used up or too old: nothing ran; call again without it`;
      throw new SandboxError("INVALID", message);
    }
    this.#use(once);
    return outcome(call.tool, response);
  }

  /** Only for this principal and exactly this call, at every replica that knows the same secret. */
  #codecOf({ principal, tool, input }: PendingCall): RequestStateCodec<{ readonly once: string }> {
    const digest = createHash("sha256")
      .update(JSON.stringify([principal.id, tool, input ?? {}]))
      .digest("hex");
    return createRequestStateCodec({
      key: principal.key,
      ttlSeconds: this.#config.approvalSeconds,
      bind: () => digest,
    });
  }

  async #verified(codec: RequestStateCodec<{ readonly once: string }>, { context }: PendingCall) {
    const state = context.mcpReq.requestState();
    if (typeof state !== "string") return undefined;
    try {
      return (await codec.verify(state, context)).once;
    } catch {
      // Its message is one word for whoever forges; all of them mean the same to a client.
      return undefined;
    }
  }

  #use(once: string): void {
    this.#used.add(once);
    const [oldest] = this.#used;
    if (this.#used.size > maxUsed && oldest !== undefined) this.#used.delete(oldest);
  }
}

interface Answer {
  readonly action: ElicitResult["action"];
  readonly content?: Readonly<Record<string, unknown>> | undefined;
}

function outcome(tool: string, { action, content }: Answer): Decision {
  if (action === "accept" && content?.approve === true) return { decision: "allowed", by: "user" };
  const how = action === "cancel" ? "closed the question about" : "declined";
  return denied("user", `the user ${how} this call of ${tool}: nothing ran; ask what they want instead`);
}

function denied(by: Decision["by"], message: string, cause?: unknown): Decision {
  return { decision: "denied", by, error: new SandboxError("DENIED", message, { cause }) };
}

/** Whether the client has forms; one that names no mode has them. */
function canAsk({ server, context, modern }: PendingCall): boolean {
  const envelope: Readonly<Record<string, unknown>> | undefined = context.mcpReq.envelope;
  const declared = modern
    ? (envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined)
    : server.getClientCapabilities();
  const elicitation = declared?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
