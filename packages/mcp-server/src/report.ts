/** One line on stderr, for the person who runs the server. Stdout belongs to the protocol. */
export function report(message: string, cause?: unknown): void {
  const detail = cause === undefined ? "" : `: ${cause instanceof Error ? cause.message : String(cause)}`;
  process.stderr.write(`sandkit-mcp: ${message}${detail}\n`);
}
