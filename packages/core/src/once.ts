/** Work that is done once, however many ask for it. What failed can be tried again. */
export class Once<Result> {
  #result: Promise<Result> | undefined;

  /** Whether it has begun, and has not failed. */
  get begun(): boolean {
    return this.#result !== undefined;
  }

  run(work: () => Promise<Result>): Promise<Result> {
    this.#result ??= work().catch((error) => {
      this.#result = undefined;
      throw error;
    });
    return this.#result;
  }
}
