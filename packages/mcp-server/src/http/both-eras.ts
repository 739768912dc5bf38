import type { IncomingMessage, ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  type AuthInfo,
  createMcpHandler,
  isLegacyRequest,
  legacyStatelessFallback,
  type McpServerFactory,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { report } from "../report.js";
import { LegacySessions } from "./legacy-sessions.js";
import { ModernHandlers } from "./modern-handlers.js";
import type { Served } from "./served.js";

/** The protocol of 2026 and those of 2025, from one factory. */
export interface BothEras {
  handle(request: IncomingMessage & { readonly auth: AuthInfo }, response: ServerResponse): Promise<void>;
  /**
   * Tells a change to those clients of one principal that listen for it in the newer protocol; the others hear of it by
   * their server.
   */
  readonly tellChange: (clientId: string, uri: string) => void;
  /** Breaks off what is under way. */
  close(): Promise<void>;
}

/** @param maxRequestBodySize In bytes; more is answered 413. */
export function bothEras(factory: McpServerFactory, maxRequestBodySize: number): BothEras {
  const onerror = (error: Error) => report("protocol", error);
  const stateless = legacyStatelessFallback(factory, onerror, { maxRequestBodySize });
  const modern = new ModernHandlers(() => createMcpHandler(factory, { legacy: "reject", onerror, maxRequestBodySize }));
  const legacy = new LegacySessions({ factory, maxRequestBodySize, stateless });
  const fetch = async (request: Request, options: Served) => {
    if (request.method !== "POST") return await legacy.fetch(request, options);
    const parsedBody = parsed(await request.text());
    if (parsedBody === undefined) return notJson();
    const isLegacy = await isLegacyRequest(request, parsedBody);
    return await (isLegacy ? legacy : modern).fetch(request, { ...options, parsedBody });
  };
  return {
    async handle(incoming, response) {
      const whenOver: Served["whenOver"] = (listener) => {
        if (response.closed) listener();
        else response.once("close", listener);
      };
      const handler = { fetch: (request: Request) => fetch(request, { authInfo: incoming.auth, whenOver }) };
      await toNodeHandler(handler, { onerror, maxRequestBodySize })(incoming, response);
    },
    tellChange: (clientId, uri) => modern.tellChange(clientId, uri),
    async close() {
      await Promise.all([legacy.close(), modern.close()]);
    },
  };
}

/** Read once, for all who look at it; undefined when it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function notJson(): Response {
  const error = { code: ProtocolErrorCode.ParseError, message: "the body is no JSON: send one JSON-RPC message" };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 400 });
}
