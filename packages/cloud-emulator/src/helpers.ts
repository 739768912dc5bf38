import { type Process, type Sandbox, SandboxError } from "@sandkit/core";
import { decodeFrames, encodeFrame, type Frame } from "./frames.js";
import { guestCommand, type HelperName, helperSources } from "./guest-program.js";
import { Helper } from "./helper.js";

/** Only its last words are kept: what helpers say goes through frames. */
const keptBytes = 4_096;

/** The helpers of one box: one Python that forks for each. All that runs in the box grows from it. */
export class Helpers {
  readonly #process: Process;
  readonly #helpers = new Map<number, Helper>();
  #count = 0;
  #over = false;

  /** @throws SandboxError `UNAVAILABLE` when the box cannot run them */
  static async start(sandbox: Sandbox): Promise<Helpers> {
    const options = { env: { HOME: sandbox.workdir }, maxOutputBytes: keptBytes };
    const process = await sandbox.spawn(await guestCommand("helpers"), options);
    await process.write(encodeFrame("S", JSON.stringify(await helperSources()), 0));
    const frames = decodeFrames(process.stdout, { numbered: true });
    const { done } = await frames.next();
    if (!done) return new Helpers(process, frames);
    const words = process.captured().stderr.text.trim();
    throw new SandboxError("UNAVAILABLE", `the box cannot run programs here, for which it needs python3: ${words}`);
  }

  private constructor(process: Process, frames: AsyncIterable<Frame>) {
    this.#process = process;
    this.#read(frames).catch(() => undefined);
  }

  /** Whether it can start no more. */
  get over(): boolean {
    return this.#over;
  }

  /** Starts one. @throws SandboxError `SANDBOX_LOST` when a program of the box has ended them all */
  async open(name: HelperName, ...args: readonly string[]): Promise<Helper> {
    this.#count += 1;
    const number = this.#count;
    const helper = new Helper(number, (frame) => this.#process.write(frame));
    this.#helpers.set(number, helper);
    if (this.#over) throw new SandboxError("SANDBOX_LOST", "the box runs no programs any more");
    await helper.open(name, args);
    return helper;
  }

  /** Sends a signal to everything that runs in the box. */
  async signal(name: NodeJS.Signals): Promise<void> {
    await this.#process.kill(name);
  }

  async #read(frames: AsyncIterable<Frame>): Promise<void> {
    try {
      for await (const { number, kind, payload } of frames) {
        this.#helpers.get(number)?.receive(kind, payload);
        if (kind === "E") this.#helpers.delete(number);
      }
    } finally {
      this.#over = true;
      for (const helper of this.#helpers.values()) helper.close();
      this.#helpers.clear();
    }
  }
}
