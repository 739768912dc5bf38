const maxChars = 2_000;

/** One line on stderr, for the person who runs the server. Stdout belongs to the protocol. */
export function report(message: string, cause?: unknown): void {
  const detail = cause === undefined ? "" : `: ${cause instanceof Error ? cause.message : String(cause)}`;
  // A cause may hold what a client sent: lines, control characters, any length.
  const line = `${message}${detail}`.replaceAll(/[\s\p{Cc}]+/gu, " ").slice(0, maxChars);
  process.stderr.write(`sandkit-mcp: ${line}\n`);
}
