import type { FromChild, HostCommandResult } from "./protocol.js";

/**
 * Carries out commands of the caller's process, such as `pip`, for guests. Never rejects.
 * @param signal Aborted when nobody waits for the command any more.
 */
export type CommandHandler = (argv: readonly string[], cwd: string, signal: AbortSignal) => Promise<HostCommandResult>;

type CommandRequest = Extract<FromChild, { type: "command" }>;

/** That guests of one sandbox may have under way. */
const mostCommands = 16;

/** Commands of the caller's process that guests of one sandbox have asked for. */
export class GuestCommands {
  readonly #running = new Map<number, AbortController>();
  readonly #over: AbortSignal;
  /** Who carries them out. */
  handler: CommandHandler | undefined;

  /** @param over Aborted when the sandbox is at its end. */
  constructor(over: AbortSignal) {
    this.#over = over;
  }

  async run({ id, argv, cwd }: CommandRequest): Promise<HostCommandResult> {
    const refuse = (exitCode: number, reason: string) => ({ exitCode, stdout: "", stderr: `${argv[0]}: ${reason}\n` });
    if (!this.handler) return refuse(127, "not found");
    if (this.#running.size >= mostCommands) return refuse(1, `not more than ${mostCommands} at one time`);
    const abort = new AbortController();
    this.#running.set(id, abort);
    try {
      return await this.handler(argv, cwd, AbortSignal.any([abort.signal, this.#over]));
    } finally {
      this.#running.delete(id);
    }
  }

  /** Nobody waits for it any more. */
  cancel(id: number): void {
    this.#running.get(id)?.abort(new Error("nobody waits for the command any more"));
  }
}
