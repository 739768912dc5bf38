import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { type Process, SandboxError } from "@sandkit/core";

/** One change in a watched directory. */
export interface BoxChange {
  /** Relative to it. */
  readonly name: string;
  readonly type: "create" | "write" | "remove" | "rename" | "chmod";
}

/** The changes in one directory, until it is stopped. */
export class BoxWatch implements AsyncIterable<BoxChange> {
  readonly #process: Process;
  readonly #lines: AsyncIterator<string>;

  /** Resolves once changes are noticed. @throws SandboxError `UNAVAILABLE` */
  static async start(process: Process): Promise<BoxWatch> {
    const watch = new BoxWatch(process);
    const first = await watch.#next();
    if (first !== undefined) return watch;
    const { stderr } = process.captured();
    throw new SandboxError("UNAVAILABLE", `the box cannot watch directories: ${stderr.text.trim()}`);
  }

  private constructor(process: Process) {
    this.#process = process;
    this.#lines = createInterface({ input: Readable.from(process.stdout) })[Symbol.asyncIterator]();
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
    await this.#process.kill("SIGKILL");
  }

  async #next(): Promise<Partial<BoxChange> | undefined> {
    const { done, value } = await this.#lines.next();
    if (done) return undefined;
    const said: Partial<BoxChange> & { readonly error?: string } = JSON.parse(value);
    if (said.error === undefined) return said;
    throw new SandboxError("UNAVAILABLE", `watching a directory failed: ${said.error}`);
  }
}
