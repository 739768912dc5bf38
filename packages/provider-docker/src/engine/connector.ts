import type { EngineClient } from "./client.js";
import { type EngineOptions, type FoundEngine, findEngine } from "./find-engine.js";

/** Finds the engine at first use, and again when the one found has gone. */
export class EngineConnector {
  readonly #options: EngineOptions;
  #found: Promise<FoundEngine> | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /**
   * An engine that answers.
   * @throws SandboxError `UNAVAILABLE` within 2 s, or 15 s over ssh, with all places that were tried and what to do
   */
  async connect(): Promise<EngineClient> {
    return (await this.find()).client;
  }

  /** The same, with how it was found. */
  async find(): Promise<FoundEngine> {
    this.#found ??= findEngine(this.#options);
    const attempt = this.#found;
    try {
      const found = await attempt;
      await found.client.ping();
      return found;
    } catch (error) {
      // The next call looks around again: the engine may have been started meanwhile, elsewhere too.
      if (this.#found === attempt) this.#found = undefined;
      throw error;
    }
  }
}
