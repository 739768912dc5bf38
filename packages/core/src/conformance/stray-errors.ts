/** Runs something and fails also when, meanwhile, an error came up that no caller could have caught. */
export async function withoutStrayErrors(run: () => Promise<void>): Promise<void> {
  const stray: unknown[] = [];
  const note = (error: unknown) => {
    stray.push(error);
  };
  process.on("unhandledRejection", note);
  process.on("uncaughtException", note);
  try {
    await run();
    // Node reports an unhandled rejection after the microtasks of this turn.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("unhandledRejection", note);
    process.off("uncaughtException", note);
  }
  const [first] = stray;
  if (stray.length === 0) return;
  const message = first instanceof Error ? first.message : String(first);
  throw new Error(`an error was thrown where nobody could catch it: ${message}`, { cause: first });
}
