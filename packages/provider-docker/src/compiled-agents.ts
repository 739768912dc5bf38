import type { AgentSession } from "@sandkit/core/kit";

const maxImages = 32;

/** What compiling the agent gives, by image: the interpreter of a box takes longer to do it than to start. */
export class CompiledAgents {
  readonly #byImage = new Map<string, Uint8Array>();

  of(image: string): Uint8Array | undefined {
    return this.#byImage.get(image);
  }

  /** Asks the agent of a box in which nothing else has run yet. Nobody waits for it: without it a start takes longer. */
  learn(image: string, session: Pick<AgentSession, "code">): void {
    if (this.#byImage.has(image) || this.#byImage.size >= maxImages) return;
    session.code().then(
      (code) => this.#byImage.set(image, code),
      () => undefined,
    );
  }
}
