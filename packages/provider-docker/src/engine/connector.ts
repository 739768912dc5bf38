import type { EngineClient } from "./client.js";
import { type EngineOptions, findEngine, noEngine, type Search } from "./find-engine.js";

/** Finds the engine at first use, and again when the one found has gone. */
export class EngineConnector {
  readonly #options: EngineOptions;
  #search: Promise<Search> | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /**
   * An engine that answers.
   * @throws SandboxError `UNAVAILABLE` within 2 s, or 15 s over ssh, with all places that were tried and what to do
   */
  async connect(): Promise<EngineClient> {
    const { client, tried } = await this.search();
    if (!client) throw noEngine(tried);
    return client;
  }

  /**
   * The same, with how it was found, or that there is none.
   * @throws SandboxError `UNAVAILABLE` when the one that was found before is gone; `INVALID` for an address that is none
   */
  async search(): Promise<Search> {
    this.#search ??= findEngine(this.#options);
    const attempt = this.#search;
    let answers = false;
    try {
      const found = await attempt;
      await found.client?.ping();
      answers = found.client !== undefined;
      return found;
    } finally {
      // The next call looks around again: the engine may have been started meanwhile, elsewhere too.
      if (!answers && this.#search === attempt) this.#search = undefined;
    }
  }
}
