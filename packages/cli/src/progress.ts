/**
 * Waits for `work`, and says on a terminal what it waits for once that takes over a second; the line goes away again.
 * Without a terminal stderr stays the program's own.
 */
export async function withProgress<T>(what: string, quiet: boolean, work: Promise<T>): Promise<T> {
  const { stderr } = process;
  if (quiet || !stderr.isTTY) return await work;
  let shown = false;
  const timer = setTimeout(() => {
    shown = stderr.write(`${what} …`);
  }, 1000);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    if (shown) stderr.write("\r\u001b[K");
  }
}
