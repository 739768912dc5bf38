import { setTimeout as pause } from "node:timers/promises";
import type { EngineClient } from "./engine/client.js";
import { engineError, statusOf } from "./errors.js";

const tries = 10;
const againMs = 20;

/**
 * Has all processes of a container stand still, or go on. Content when they do already.
 * @throws SandboxError `NOT_FOUND`, `CONFLICT` when something else is being done with it
 */
export async function freeze(engine: EngineClient, container: string, still: boolean, sandboxId: string) {
  const context = { operation: still ? "pause" : "resume", subject: `container ${container}`, sandboxId };
  for (let left = tries; ; left--) {
    try {
      await (still ? engine.container(container).pause() : engine.container(container).unpause());
      return;
    } catch (error) {
      const status = statusOf(error);
      // Podman says 500 for what Docker calls a conflict; an engine may be late to know what it has just done.
      if (status !== 409 && status !== 500) throw engineError(error, context);
      const found = await engine.inspect(container);
      if (found?.State.Running && found.State.Paused === still) return;
      if (!found || left === 0) throw engineError(error, context);
      await pause(againMs);
    }
  }
}
