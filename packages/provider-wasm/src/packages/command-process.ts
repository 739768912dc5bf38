import { messageOf, type ProcessExit, type ProviderProcess } from "@sandkit/core";
import { refusal } from "../errors.js";
import type { OutputStream } from "../protocol.js";
import { endsByDefault } from "../signal-numbers.js";

/** How a command that runs in the caller's own process writes, and learns that it is to end. */
export interface CommandIo {
  readonly write: (stream: OutputStream, text: string) => void;
  readonly signal: AbortSignal;
}

/** A command of ours that looks like a program of the sandbox. What it writes is little: nothing is held up. */
export class CommandProcess implements ProviderProcess {
  readonly id: string;
  readonly pid = 1;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly exited: Promise<ProcessExit>;
  readonly gone: Promise<void>;
  readonly #over: AbortSignal;
  readonly #abort = new AbortController();
  #signal: string | undefined;

  /** @param over Aborted when its sandbox is at its end, with the error that tells it. */
  constructor(id: string, mergeStderr: boolean, over: AbortSignal, run: (io: CommandIo) => Promise<number>) {
    this.id = id;
    this.#over = over;
    const encoder = new TextEncoder();
    const [out, err] = [
      new TransformStream<Uint8Array>(undefined, unbounded),
      new TransformStream<Uint8Array>(undefined, unbounded),
    ];
    this.stdout = out.readable;
    this.stderr = err.readable;
    const writers = { stdout: out.writable.getWriter(), stderr: err.writable.getWriter() };
    // A consumer that has gone takes no more: that is no failure of the command.
    const swallow = (writing: Promise<void>) => void writing.catch(() => undefined);
    const write: CommandIo["write"] = (stream, text) =>
      swallow(writers[mergeStderr ? "stdout" : stream].write(encoder.encode(text)));
    this.exited = this.#run(run, { write, signal: AbortSignal.any([this.#abort.signal, over]) }).finally(() => {
      for (const writer of Object.values(writers)) swallow(writer.close());
    });
    this.exited.catch(() => undefined);
    this.gone = this.exited.then(
      () => undefined,
      () => undefined,
    );
  }

  async write(): Promise<void> {}

  async closeStdin(): Promise<void> {}

  async kill(signal: string): Promise<void> {
    if (signal === "SIGSTOP" || signal === "SIGTSTP") {
      throw refusal("UNSUPPORTED", `a command of the host cannot be stopped and continued (${signal})`, "kill");
    }
    if (!endsByDefault(signal)) return;
    this.#signal ??= signal;
    this.#abort.abort(new Error(`ended by ${signal}`));
  }

  async #run(run: (io: CommandIo) => Promise<number>, io: CommandIo): Promise<ProcessExit> {
    try {
      return { exitCode: await run(io) };
    } catch (error) {
      this.#over.throwIfAborted();
      if (this.#signal !== undefined) return { exitCode: null, signal: this.#signal };
      io.write("stderr", `ERROR: ${messageOf(error)}\n`);
      return { exitCode: 1 };
    }
  }
}

const unbounded = new CountQueuingStrategy({ highWaterMark: Number.POSITIVE_INFINITY });
