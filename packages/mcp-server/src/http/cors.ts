import type { IncomingMessage, ServerResponse } from "node:http";

const allowedHeaders = [
  "Authorization",
  "Content-Type",
  "Last-Event-ID",
  "Mcp-Method",
  "Mcp-Name",
  "Mcp-Protocol-Version",
  "Mcp-Session-Id",
].join(", ");
const exposedHeaders = "Mcp-Session-Id, WWW-Authenticate, Retry-After";
const methods = "GET, POST, DELETE, OPTIONS";

/**
 * Lets web pages of the configured origins read answers; for all others nothing is said, and browsers keep it from them.
 * True when the request was only the browser's question whether it may ask, and is answered.
 */
export function answerCors(request: IncomingMessage, response: ServerResponse, origins: readonly string[]): boolean {
  const { origin } = request.headers;
  if (origin === undefined || !origins.includes(origin)) return false;
  response.setHeader("Access-Control-Allow-Origin", origin);
  response.setHeader("Vary", "Origin");
  response.setHeader("Access-Control-Expose-Headers", exposedHeaders);
  if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return false;
  response.setHeader("Access-Control-Allow-Methods", methods);
  response.setHeader("Access-Control-Allow-Headers", allowedHeaders);
  response.setHeader("Access-Control-Max-Age", "600");
  response.writeHead(204).end();
  return true;
}
