import { Readable } from "node:stream";
import type { ExecResult, Sandbox, SpawnProcessOptions } from "@sandkit/core";
import { withProgress } from "../progress.js";
import type { Interrupts } from "./interrupts.js";
import { passOutput } from "./output.js";

/** How a program is run, whatever it is. */
export interface RunSettings {
  readonly timeoutMs: number | undefined;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** The commands of one run: one deadline for all, and each is what an interrupt ends. */
export class ProgramRun {
  readonly #sandbox: Sandbox;
  readonly #settings: RunSettings;
  readonly #interrupts: Interrupts;
  readonly #startedAt = performance.now();

  constructor(sandbox: Sandbox, settings: RunSettings, interrupts: Interrupts) {
    this.#sandbox = sandbox;
    this.#settings = settings;
    this.#interrupts = interrupts;
  }

  /** Told when it is over: what is written meanwhile would run into the line of progress. */
  async compile(command: readonly string[]): Promise<ExecResult> {
    const { json, quiet } = this.#settings;
    const result = await withProgress(`compiling (${command[0]})`, json || quiet, () =>
      this.#run(command, { stdin: "" }),
    );
    if (!json) {
      process.stdout.write(result.stdout.bytes);
      process.stderr.write(result.stderr.bytes);
    }
    return result;
  }

  async program(
    command: readonly string[],
    stdin: Uint8Array | undefined,
    { env, ...more }: SpawnProcessOptions = {},
  ): Promise<ExecResult> {
    return await this.#run(command, {
      ...more,
      stdin: stdin ?? inputStream(),
      // Python keeps back what it prints to a pipe, and at a terminal somebody waits for it.
      env: { ...(process.stdout.isTTY && { PYTHONUNBUFFERED: "1" }), ...env },
      ...(!this.#settings.json && { onOutput: passOutput((error) => this.#interrupts.outputLost(error)) }),
    });
  }

  async #run(command: readonly string[], options: SpawnProcessOptions): Promise<ExecResult> {
    this.#interrupts.creation.throwIfAborted();
    const { timeoutMs } = this.#settings;
    const left = timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - (performance.now() - this.#startedAt));
    const running = await this.#sandbox.spawn(command, { ...options, ...(left !== undefined && { timeoutMs: left }) });
    this.#interrupts.watch(running);
    return await Promise.race([running.wait(), this.#interrupts.overdue]);
  }
}

/** Our stdin, read only as fast as the program reads. */
function inputStream(): ReadableStream<Uint8Array> {
  return Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
}
