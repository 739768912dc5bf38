import { deferred } from "../../deferred.js";
import type { OutputSink, PlainEnding, PlainExec, PlainPlace } from "../../plain/plain-place.js";
import type { ShellJob } from "./shell-job.js";
import type { ShellTerminal } from "./shell-terminal.js";

/** What a shell says of a program that SIGKILL has ended. */
const killedCode = 137;

/** A program that a relay runs on its terminal. */
export class ShellExec implements PlainExec {
  readonly closed: Promise<void>;
  readonly #place: PlainPlace;
  readonly #shell: ShellTerminal;
  readonly #job: ShellJob;

  /** @param giveBack Called once, with whether the terminal can run another program. */
  constructor(
    place: PlainPlace,
    shell: ShellTerminal,
    program: { readonly code: string; readonly stdin: boolean },
    giveBack: (usable: boolean) => void,
  ) {
    const closed = deferred<void>();
    this.closed = closed.promise;
    this.#place = place;
    this.#shell = shell;
    this.#job = shell.run(program.code, program.stdin, (usable) => {
      giveBack(usable);
      closed.resolve();
    });
  }

  get held(): boolean {
    return this.#job.held;
  }

  listen(sink: OutputSink): void {
    this.#job.listen(sink);
  }

  resume(): void {
    this.#job.resume();
  }

  write(data: Uint8Array): Promise<void> {
    return this.#job.write(data);
  }

  end(): void {
    this.#job.end();
  }

  caughtUp(): Promise<void> {
    return this.#job.probe();
  }

  destroy(): void {
    this.#job.stop();
  }

  async ending(): Promise<PlainEnding> {
    if (this.#job.complete) return { complete: true, code: killedCode, failure: undefined };
    const { failure } = this.#shell;
    if (!failure) return { complete: false, code: null, failure: undefined };
    if (!(await this.#place.isRunning()))
      return { complete: false, code: null, failure: this.#place.lost(failure.error) };
    // Of what ended the terminal's programs in a box that runs, there is nothing but a SIGKILL for all.
    return { complete: false, code: failure.isGone ? killedCode : null, failure: failure.error };
  }
}
