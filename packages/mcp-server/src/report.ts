import { SandboxError } from "@sandkit/core";
import { log } from "./observability/log.js";

/** Tells whoever runs the server of something that went wrong and that no client is told of. */
export function report(message: string, cause?: unknown): void {
  log.warn(message, {
    code: cause instanceof SandboxError ? cause.code : undefined,
    error: cause === undefined ? undefined : reasonOf(cause),
  });
}

/** With what is underneath an error of others: `fetch failed` alone helps nobody. Ours say all. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const under = cause.cause instanceof Error && !(cause instanceof SandboxError) ? cause.cause.message : "";
  return cause.message.includes(under) ? cause.message : `${cause.message}: ${under}`;
}
