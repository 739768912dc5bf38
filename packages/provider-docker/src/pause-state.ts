import { SandboxError } from "@sandkit/core";
import type { EngineClient } from "./engine/client.js";
import { providerName } from "./errors.js";

/** Whether one box stands still, as far as this program knows: by its own pause, or found so. */
export class PauseState {
  #paused = false;
  #looking = false;
  #changes = 0;
  readonly #waiting = new Set<(reason: SandboxError) => void>();

  get paused(): boolean {
    return this.#paused;
  }

  /** By this program: what waits for the box goes on waiting. */
  set(paused: boolean): void {
    this.#paused = paused;
    this.#changes += 1;
  }

  /**
   * For a box that says nothing: somebody else may have paused it, or have let it go on. What waits for one that is
   * found paused is told, as it would wait for who knows how long; it may happen still.
   */
  async look(engine: EngineClient, container: string, sandboxId: string): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const before = this.#changes;
    try {
      const found = await engine.inspect(container);
      // What was found may be what was before that.
      if (this.#changes !== before) return;
      const paused = found?.State.Paused ?? false;
      if (paused && !this.#paused) {
        const reason = pausedError(sandboxId, "was paused by somebody else");
        for (const reject of this.#waiting) reject(reason);
      }
      this.#paused = paused;
    } catch {
      // An engine that does not answer says nothing of the box: it is asked again at the next silence.
    } finally {
      this.#looking = false;
    }
  }

  /** Waits for something of the box, until it is found paused; `discard` takes what comes later. */
  async call<Result>(work: Promise<Result>, discard?: (late: Result) => void): Promise<Result> {
    let tell: ((reason: SandboxError) => void) | undefined;
    const standstill = new Promise<never>((_, reject) => {
      tell = reject;
      this.#waiting.add(reject);
    });
    try {
      return await Promise.race([work, standstill]);
    } catch (error) {
      if (this.#paused) work.then(discard, () => undefined);
      throw error;
    } finally {
      if (tell) this.#waiting.delete(tell);
    }
  }
}

/** What needs a box running is refused while it stands still. */
export function pausedError(sandboxId: string, what = "is paused", operation?: string): SandboxError {
  const details = { provider: providerName, sandboxId, operation };
  return new SandboxError("UNAVAILABLE", `sandbox ${sandboxId} ${what}: call resume() first`, details);
}
