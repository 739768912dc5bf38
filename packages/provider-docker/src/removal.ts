import { setTimeout as pause } from "node:timers/promises";
import { SandboxError } from "@sandkit/core";
import type { EngineClient } from "./engine/client.js";
import { engineError, providerName, statusOf } from "./errors.js";

const goneWithinMs = 15_000;
const mostBetweenLooksMs = 200;

/**
 * Removes a container and waits until it is gone. One that is not there, or that somebody else is removing, is fine.
 * @throws SandboxError `UNAVAILABLE` when it may still exist
 */
export async function removeContainer(engine: EngineClient, container: string, sandboxId?: string): Promise<void> {
  const context = { operation: "destroy", subject: `container ${container}`, sandboxId };
  try {
    await engine.container(container).remove({ force: true, v: true });
  } catch (error) {
    const status = statusOf(error);
    // 409: its removal is in progress. 500: Podman says so too. Whether it is true shows below.
    if (status !== 404 && status !== 409 && status !== 500) throw engineError(error, context);
  }
  const end = performance.now() + goneWithinMs;
  for (let wait = 5; (await engine.inspect(container)) !== undefined; wait = Math.min(2 * wait, mostBetweenLooksMs)) {
    if (performance.now() > end) {
      throw new SandboxError(
        "UNAVAILABLE",
        `container ${container} is still there ${goneWithinMs / 1000} s after its removal: docker rm -f ${container}`,
        { provider: providerName, operation: "destroy", sandboxId },
      );
    }
    await pause(wait);
  }
}
