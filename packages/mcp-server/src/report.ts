import { SandboxError } from "@sandkit/core";
import { log } from "./observability/log.js";

/** Tells whoever runs the server of something that went wrong and that no client is told of. */
export function report(message: string, cause?: unknown): void {
  log.warn(message, {
    code: cause instanceof SandboxError ? cause.code : undefined,
    error: cause === undefined ? undefined : cause instanceof Error ? cause.message : String(cause),
  });
}
