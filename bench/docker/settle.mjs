import { setTimeout as pause } from "node:timers/promises";

/** How long an engine goes on clearing away what was run in a container, and a whole container, in milliseconds. */
const afterExecMs = 50;
const afterContainerMs = 400;

/**
 * Lets the engine finish with what one contender has left, so that the next one is not measured with it.
 * @param {"exec" | "container"} left
 */
export async function settle(left) {
  await pause(left === "exec" ? afterExecMs : afterContainerMs);
}
