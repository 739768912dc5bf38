/**
 * Waits for `start`, and says on a terminal what it waits for once that takes over a second; the line goes away again.
 * Without a terminal stderr stays the program's own. `start` may tell what it is at.
 */
export async function withProgress<T>(
  what: string,
  quiet: boolean,
  start: (onProgress: (message: string) => void) => Promise<T>,
): Promise<T> {
  const { stderr } = process;
  if (quiet || !stderr.isTTY) return await start(() => undefined);
  let shown = false;
  let doing = what;
  const show = () => {
    shown = stderr.write(`\r\u001b[K${doing} …`) || true;
  };
  const timer = setTimeout(show, 1000);
  try {
    return await start((message) => {
      doing = `${what}: ${message}`.replace(/\p{Cc}/gu, " ").slice(0, (stderr.columns || 80) - 3);
      if (shown) show();
    });
  } finally {
    clearTimeout(timer);
    if (shown) stderr.write("\r\u001b[K");
  }
}
