import type { AgentSession } from "@sandkit/core/kit";

const maxImages = 32;

/**
 * What compiling the agent gives, by image: the interpreter of a box takes longer to do it than to start. Told by the
 * second box of an image: most programs make one, and would have no use of it.
 */
export class CompiledAgents {
  readonly #byImage = new Map<string, Uint8Array | "seen" | "asked">();

  of(image: string): Uint8Array | undefined {
    const known = this.#byImage.get(image);
    return typeof known === "string" ? undefined : known;
  }

  /** Asks the agent of a box in which nothing else has run yet. Nobody waits for it: without it a start takes longer. */
  learn(image: string, session: Pick<AgentSession, "code">): void {
    const known = this.#byImage.get(image);
    if (known === undefined && this.#byImage.size < maxImages) this.#byImage.set(image, "seen");
    if (known !== "seen") return;
    this.#byImage.set(image, "asked");
    session.code().then(
      (code) => this.#byImage.set(image, code),
      () => this.#byImage.set(image, "seen"),
    );
  }
}
