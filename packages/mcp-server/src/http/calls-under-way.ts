import type { ServerResponse } from "node:http";

/** The answers that are still owed. */
export class CallsUnderWay {
  readonly #responses = new Set<ServerResponse>();

  get size(): number {
    return this.#responses.size;
  }

  add(response: ServerResponse): void {
    this.#responses.add(response);
    response.once("close", () => this.#responses.delete(response));
  }

  /** Resolves when all of them are given, or the signal aborts. */
  async settle(enough: AbortSignal): Promise<void> {
    const given = Promise.all(
      [...this.#responses].map((response) => new Promise((resolve) => response.once("close", resolve))),
    );
    const aborted = new Promise<void>((resolve) => {
      if (enough.aborted) resolve();
      enough.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([given, aborted]);
  }
}
