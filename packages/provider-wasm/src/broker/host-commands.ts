import type { FromChild, HostCommandResult } from "../protocol.js";

/**
 * Commands that only the caller's process can carry out, such as `pip`, which needs the network. Both shells and
 * interpreters ask for them here.
 */
export class HostCommands {
  readonly #send: (message: FromChild) => void;
  readonly #waiting = new Map<number, (result: HostCommandResult) => void>();
  #nextId = 1;

  constructor(send: (message: FromChild) => void) {
    this.#send = send;
  }

  /** Resolves with what the command has written and its exit code, once it has ended. */
  run(argv: readonly string[], cwd: string): Promise<HostCommandResult> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#send({ type: "command", id, argv, cwd });
    });
  }

  done(id: number, result: HostCommandResult): void {
    this.#waiting.get(id)?.(result);
    this.#waiting.delete(id);
  }
}
