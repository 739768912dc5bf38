import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { getSystemErrorName } from "node:util";
import { deferred, type ProcessExit } from "@sandkit/core";
import { fromErrno } from "@sandkit/core/kit";
import { failure, providerName } from "./errors.js";

/** The caller's ends of a supervisor's control streams; supervisor.py describes what goes over them. */
export class Control {
  /** Settles with the program's pid; rejects when it could not be started. */
  readonly started: Promise<number>;
  readonly exited: Promise<ProcessExit>;
  readonly gone: Promise<void>;
  /** Settles when the supervisor itself has ended; never rejects. */
  readonly closed: Promise<void>;
  readonly #commands: Writable;
  readonly #started = deferred<number>();
  readonly #exited = deferred<ProcessExit>();
  readonly #gone = deferred<void>();
  /** One entry for each `kill` that the supervisor has not answered. */
  #kills: (() => void)[] = [];
  #over = false;

  /** @param cwd Where the program is to run, for the error when that cannot be. */
  constructor(supervisor: ChildProcess, cwd: string) {
    this.started = this.#started.promise;
    this.exited = this.#exited.promise;
    this.gone = this.#gone.promise;
    this.#commands = supervisor.stdio[3] as Writable;
    // A command that the supervisor did not live to read was in vain; how it ended is told by the events.
    this.#commands.on("error", () => this.#commands.destroy());
    const events = supervisor.stdio[4] as Readable;
    let rest = "";
    events.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#hear(line, cwd);
    });
    events.on("error", () => events.destroy());
    // Not `once` of node:events: it rejects with an error of the stream, which shows in what has not been told.
    const heardAll = new Promise((resolve) => events.once("close", resolve));
    this.closed = once(supervisor, "exit").then(async ([code, signal]) => {
      await heardAll;
      const what = `a supervisor ended (${signal ?? code}) before its program`;
      this.#end(failure("SANDBOX_LOST", "exec", `${what}: create a new sandbox`));
    });
  }

  /** Hands over the program to run. */
  start(payload: Uint8Array): void {
    this.#commands.write(`${payload.byteLength}\n`);
    this.#commands.write(payload);
  }

  /** Resolves when the whole tree has been sent the signal. */
  async kill(signal: number): Promise<void> {
    if (this.#over) return;
    await new Promise<void>((resolve) => {
      this.#kills.push(resolve);
      this.#commands.write(`kill ${signal}\n`);
    });
  }

  /** The supervisor takes this for the death of its caller and ends, with all that is left. */
  close(): void {
    this.#commands.destroy();
  }

  #hear(line: string, cwd: string): void {
    const [word, ...values] = line.split(" ");
    const [first = 0, second = 0, cpuMs = 0, peakMemoryBytes = 0] = values.map(Number);
    if (word === "started") this.#started.resolve(first);
    else if (word === "failed") {
      const about = { operation: "exec", subject: `cwd ${JSON.stringify(cwd)}`, provider: providerName };
      this.#started.reject(fromErrno(getSystemErrorName(-first), about));
    } else if (word === "killed") this.#kills.shift()?.();
    else if (word === "gone") this.#finish();
    else if (word === "exited") {
      const usage = { cpuMs, peakMemoryBytes };
      this.#exited.resolve(second ? { exitCode: null, signal: signalName(second), usage } : { exitCode: first, usage });
    }
  }

  #finish(): void {
    this.#over = true;
    this.#gone.resolve();
    for (const answered of this.#kills.splice(0)) answered();
  }

  /** No more will be heard: what has not been told by now is lost. */
  #end(error: Error): void {
    this.#started.reject(error);
    this.#exited.reject(error);
    this.#gone.reject(error);
    this.#finish();
  }
}

function signalName(number: number): string {
  const named = Object.entries(constants.signals).find(([, value]) => value === number);
  return named?.[0] ?? `SIG${number}`;
}
