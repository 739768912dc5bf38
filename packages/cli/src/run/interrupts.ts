import type { Process } from "@sandkit/core";

/** For a program, or an ending, that is still there this long after its interrupt. */
const hintAfterMs = 700;
/** What has not ended so long after it was told to, in a sandbox that does not answer, ends with that. */
const endWithinMs = 8_000;
const runningHint = "\nstill running; Ctrl-C again kills it\n";

/** What the signals of this process mean for the program that it runs. */
export class Interrupts implements Disposable {
  /** Aborts what has no program yet: the creation of the sandbox. */
  readonly creation: AbortSignal;
  /** Rejects when the program was told to end and has not done so in time. */
  readonly overdue: Promise<never>;
  readonly #endingHint: string;
  readonly #abort = new AbortController();
  readonly #handlers: ReadonlyMap<NodeJS.Signals, () => void>;
  #process: Process | undefined;
  #count = 0;
  #exitCode: number | undefined;
  #endedAt = 0;
  #hint: NodeJS.Timeout | undefined;
  #giveUp: (reason: Error) => void = () => undefined;
  #patience: NodeJS.Timeout | undefined;

  /** @param what What is ended by an interrupt, for people. */
  constructor(what: "the sandbox" | "the program" | "the copy" = "the sandbox") {
    this.#endingHint = `\nstill ending ${what}; Ctrl-C again does not wait for it\n`;
    this.creation = this.#abort.signal;
    this.overdue = new Promise((_, reject) => {
      this.#giveUp = reject;
    });
    this.overdue.catch(() => undefined);
    this.#handlers = new Map<NodeJS.Signals, () => void>([
      ["SIGINT", () => this.#interrupt()],
      ["SIGTERM", () => this.#endOrLeave(143)],
      ["SIGHUP", () => this.#endOrLeave(129)],
    ]);
    for (const [signal, handler] of this.#handlers) process.on(signal, handler);
  }

  /** Set once this process was told to end: the exit code that says so. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** From here on the program is what is interrupted. */
  watch(running: Process): void {
    this.#process = running;
    if (this.#exitCode !== undefined) this.#kill();
  }

  /** Ends the program because its output goes nowhere: nobody reads any more, or it cannot be written. */
  outputLost(error: NodeJS.ErrnoException): void {
    this.#end(error.code === "EPIPE" ? 141 : 3);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#hint);
    clearTimeout(this.#patience);
    for (const [signal, handler] of this.#handlers) process.off(signal, handler);
  }

  /** The first Ctrl-C goes to the program, which may tidy up or go on; the second ends it; a later one ends the waiting. */
  #interrupt(): void {
    this.#count += 1;
    if (this.#count > 1 || !this.#process) {
      this.#endOrLeave(130);
      return;
    }
    this.#hintLater(runningHint);
    this.#process.kill("SIGINT").catch(() => this.#end(130));
  }

  /** Sandboxes that are attached end with this process. One that an impatient hand has just told to end gets its time. */
  #endOrLeave(exitCode: number): void {
    if (this.#exitCode === undefined) this.#end(exitCode);
    else if (performance.now() - this.#endedAt > hintAfterMs) process.exit(this.#exitCode);
  }

  #end(exitCode: number): void {
    if (this.#exitCode !== undefined) return;
    this.#exitCode = exitCode;
    this.#endedAt = performance.now();
    this.#hintLater(this.#endingHint);
    this.#abort.abort(new Error("interrupted"));
    this.#patience = setTimeout(() => this.#giveUp(new Error("the sandbox does not answer")), endWithinMs);
    this.#kill();
  }

  #hintLater(hint: string): void {
    clearTimeout(this.#hint);
    if (process.stderr.isTTY) this.#hint = setTimeout(() => process.stderr.write(hint), hintAfterMs).unref();
  }

  #kill(): void {
    // A kill that fails makes `wait` reject, and is told from there.
    this.#process?.kill().catch(() => undefined);
  }
}
