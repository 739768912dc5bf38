/**
 * Waits for `work`, and says on stderr what it waits for once that takes over a second. On a terminal the line goes
 * away again; elsewhere it is one plain line.
 */
export async function withProgress<T>(what: string, quiet: boolean, work: Promise<T>): Promise<T> {
  const { stderr } = process;
  let shown = false;
  const timer = setTimeout(() => {
    shown = !quiet;
    if (shown) stderr.write(stderr.isTTY ? `${what} …` : `${what} …\n`);
  }, 1000);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    if (shown && stderr.isTTY) stderr.write("\r\u001b[K");
  }
}
