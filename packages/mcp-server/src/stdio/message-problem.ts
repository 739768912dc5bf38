import { ProtocolErrorCode } from "@modelcontextprotocol/server";

/** Why a line is no message, as it is answered. */
export interface MessageProblem {
  readonly id: string | number | null;
  readonly code: number;
  readonly message: string;
}

/**
 * What is wrong with a line that is no JSON-RPC message: who sent it would wait for an answer for ever. Undefined for a
 * message, and for a line that is blank.
 */
export function messageProblem(line: string): MessageProblem | undefined {
  if (line.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { id: null, code: ProtocolErrorCode.ParseError, message: "the line is no JSON: send one message a line" };
  }
  const wrong = wrongIn(value);
  if (wrong === undefined) return undefined;
  const id = isObject(value) && isId(value.id) ? value.id : null;
  return { id, code: ProtocolErrorCode.InvalidRequest, message: `this is no JSON-RPC message: ${wrong}` };
}

function wrongIn(value: unknown): string | undefined {
  if (Array.isArray(value)) return "send each message by itself, not in a list";
  if (!isObject(value)) return "send an object";
  if (value.jsonrpc !== "2.0") return 'jsonrpc must be "2.0"';
  if ("id" in value && !(isId(value.id) || "error" in value)) return "id must be a text or a whole number";
  if ("result" in value || "error" in value) return undefined;
  if (typeof value.method !== "string") return "method must be a text";
  return value.params === undefined || isObject(value.params) ? undefined : "params must be an object";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is string | number {
  return typeof value === "string" || Number.isSafeInteger(value);
}
