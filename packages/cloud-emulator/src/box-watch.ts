import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { SandboxError } from "@sandkit/core";
import type { Helper } from "./helper.js";

/** One change in a watched directory. */
export interface BoxChange {
  /** Relative to it. */
  readonly name: string;
  readonly type: "create" | "write" | "remove" | "rename" | "chmod";
}

/** The changes in one directory, until it is stopped. */
export class BoxWatch implements AsyncIterable<BoxChange> {
  readonly #helper: Helper;
  readonly #lines: AsyncIterator<string>;

  /** Resolves once changes are noticed. @throws SandboxError `UNAVAILABLE`, `SANDBOX_LOST` */
  static async start(helper: Helper): Promise<BoxWatch> {
    const watch = new BoxWatch(helper);
    const first = await watch.#next();
    if (first !== undefined) return watch;
    throw new SandboxError("SANDBOX_LOST", "the box ended before it could watch a directory");
  }

  private constructor(helper: Helper) {
    this.#helper = helper;
    this.#lines = createInterface({ input: Readable.from(helper.output) })[Symbol.asyncIterator]();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<BoxChange> {
    try {
      for (let change = await this.#next(); change; change = await this.#next()) yield change as BoxChange;
    } finally {
      await this.stop();
    }
  }

  /** Ends it. Idempotent. */
  async stop(): Promise<void> {
    await this.#helper.kill();
  }

  async #next(): Promise<Partial<BoxChange> | undefined> {
    const { done, value } = await this.#lines.next();
    if (done) return undefined;
    const said: Partial<BoxChange> & { readonly error?: string } = JSON.parse(value);
    if (said.error === undefined) return said;
    throw new SandboxError("UNAVAILABLE", `watching a directory failed: ${said.error}`);
  }
}
