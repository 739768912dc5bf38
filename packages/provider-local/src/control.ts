import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import type { Duplex } from "node:stream";
import { getSystemErrorName } from "node:util";
import type { ProcessExit } from "@sandkit/core";
import { failure, fromErrno } from "./errors.js";
import { pythonFix } from "./python.js";

/** The caller's end of a supervisor's control socket; supervisor.py describes what goes over it. */
export class Control {
  /** Settles with the program's pid; rejects when it could not be started. */
  readonly started: Promise<number>;
  readonly exited: Promise<ProcessExit>;
  readonly gone: Promise<void>;
  /** Settles when the supervisor itself has ended; never rejects. */
  readonly closed: Promise<void>;
  readonly #socket: Duplex;
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
    this.#socket = supervisor.stdio[3] as Duplex;
    // A supervisor that ends before it has read a `kill` breaks the socket; what that means is decided at its close.
    this.#socket.on("error", () => this.#socket.destroy());
    let rest = "";
    this.#socket.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#hear(line, cwd);
    });
    // Not `once` of node:events: it rejects with the error of the socket, which is dealt with above.
    const unheard = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.closed = once(supervisor, "exit").then(
      async ([code, signal]) => {
        await unheard;
        const next = "create a new sandbox";
        this.#end(
          failure("SANDBOX_LOST", "exec", `a supervisor ended (${signal ?? code}) before its program: ${next}`),
        );
      },
      (error) => {
        const message = `cannot start ${supervisor.spawnfile}: ${error.message}: ${pythonFix.join("; ")}`;
        this.#end(failure("UNAVAILABLE", "exec", message, error));
      },
    );
  }

  /** Hands over the program to run. */
  start(payload: Uint8Array): void {
    this.#socket.write(`${payload.byteLength}\n`);
    this.#socket.write(payload);
  }

  /** Resolves when the whole tree has been sent the signal. */
  async kill(signal: number): Promise<void> {
    if (this.#over) return;
    await new Promise<void>((resolve) => {
      this.#kills.push(resolve);
      this.#socket.write(`kill ${signal}\n`);
    });
  }

  /** The supervisor takes this for the death of its caller and ends, with all that is left. */
  close(): void {
    this.#socket.destroy();
  }

  #hear(line: string, cwd: string): void {
    const [word, ...values] = line.split(" ");
    const [first = 0, second = 0, cpuMs = 0, peakMemoryBytes = 0] = values.map(Number);
    if (word === "started") this.#started.resolve(first);
    else if (word === "failed") this.#started.reject(fromErrno(getSystemErrorName(-first), "exec in", cwd));
    else if (word === "killed") this.#kills.shift()?.();
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

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: Error) => void;
}

/** A promise to be settled from outside, whose rejection nobody has to have listened to. */
function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: Error) => void = () => undefined;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
