import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isLegacyRequest,
  legacyStatelessFallback,
  type McpHandlerRequestOptions,
  type McpServerFactory,
} from "@modelcontextprotocol/server";
import { report } from "../report.js";
import { LegacySessions } from "./legacy-sessions.js";

/** The protocol of 2026 and those of 2025, from one factory. */
export interface BothEras {
  readonly handle: ReturnType<typeof toNodeHandler>;
  /** Tells a change to those clients of the newer protocol that listen for it; the others hear of it by their server. */
  readonly tellChange: (uri: string) => void;
  /** Breaks off what is under way. */
  close(): Promise<void>;
}

/** @param maxRequestBodySize In bytes; more is answered 413. */
export function bothEras(factory: McpServerFactory, maxRequestBodySize: number): BothEras {
  const onerror = (error: Error) => report("protocol", error);
  const stateless = legacyStatelessFallback(factory, onerror, { maxRequestBodySize });
  const modern = createMcpHandler(factory, { legacy: "reject", onerror, maxRequestBodySize });
  const legacy = new LegacySessions({ factory, maxRequestBodySize, stateless });
  const fetch = async (request: Request, options?: McpHandlerRequestOptions) => {
    const isLegacy = await isLegacyRequest(request, undefined, { maxRequestBodySize });
    return await (isLegacy ? legacy : modern).fetch(request, options);
  };
  return {
    handle: toNodeHandler({ fetch }, { onerror, maxRequestBodySize }),
    tellChange: (uri) => modern.notify.resourceUpdated(uri),
    async close() {
      await Promise.all([modern.close(), legacy.close()]);
    },
  };
}
