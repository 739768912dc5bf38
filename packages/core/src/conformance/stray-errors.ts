import { messageOf } from "../errors.js";

/** Runs under watch at this moment. */
let watched = 0;

/**
 * Runs something and fails also when, meanwhile, an error came up that no caller could have caught. With several runs
 * at a time such an error cannot be told to belong to one, and is left to the test runner.
 */
export async function withoutStrayErrors(run: () => Promise<void>): Promise<void> {
  const stray: unknown[] = [];
  const note = (error: unknown) => {
    if (watched === 1) stray.push(error);
  };
  watched += 1;
  process.on("unhandledRejection", note);
  process.on("uncaughtException", note);
  try {
    await run();
    // Node reports an unhandled rejection after the microtasks of this turn.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    watched -= 1;
    process.off("unhandledRejection", note);
    process.off("uncaughtException", note);
  }
  if (stray.length === 0) return;
  const [first] = stray;
  throw new Error(`an error was thrown where nobody could catch it: ${messageOf(first)}`, { cause: first });
}
