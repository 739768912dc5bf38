import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";

/** Why a line is no message, as it is answered. */
export interface MessageProblem {
  readonly id: string | number | null;
  readonly code: number;
  readonly message: string;
}

/**
 * The message of a line, or what is wrong with one that is no JSON-RPC message: who sent it would wait for an answer for
 * ever. Undefined for a line that is blank.
 */
export function readMessage(line: string): { message: JSONRPCMessage } | { problem: MessageProblem } | undefined {
  if (line.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const message = "the line is no JSON: send one message a line";
    return { problem: { id: null, code: ProtocolErrorCode.ParseError, message } };
  }
  if (isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value)) return { message: value };
  // The id of a response is one of ours.
  const id = isObject(value) && isId(value.id) && !isResponse(value) ? value.id : null;
  const message = `this is no JSON-RPC message: ${wrongIn(value)}`;
  return { problem: { id, code: ProtocolErrorCode.InvalidRequest, message } };
}

function wrongIn(value: unknown): string {
  if (Array.isArray(value)) return "send each message by itself, not in a list";
  if (!isObject(value)) return "send an object";
  if (value.jsonrpc !== "2.0") return 'jsonrpc must be "2.0"';
  if ("id" in value && !(isId(value.id) || "error" in value)) return "id must be a text or a whole number";
  if (isResponse(value)) return "a response has an object as its result, or an error with its code and message";
  if (typeof value.method !== "string") return "method must be a text";
  if (value.params !== undefined && !isObject(value.params)) return "params must be an object";
  return "beside jsonrpc, id, method and params there is nothing in one, and _meta of params must be as the protocol has it";
}

function isResponse(value: Record<string, unknown>): boolean {
  return "result" in value || "error" in value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}
