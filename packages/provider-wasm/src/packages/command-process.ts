import type { ProcessExit, ProviderProcess } from "@sandkit/core";
import type { OutputStream } from "../protocol.js";

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
  readonly #abort = new AbortController();
  #signal: string | undefined;

  constructor(id: string, mergeStderr: boolean, run: (io: CommandIo) => Promise<number>) {
    this.id = id;
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
    this.exited = run({ write, signal: this.#abort.signal })
      .then(
        (exitCode): ProcessExit => ({ exitCode }),
        (error: unknown): ProcessExit => {
          if (this.#signal === undefined) throw error;
          return { exitCode: null, signal: this.#signal };
        },
      )
      .finally(() => {
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
    this.#signal ??= signal;
    this.#abort.abort(new Error(`ended by ${signal}`));
  }
}

const unbounded = new CountQueuingStrategy({ highWaterMark: Number.POSITIVE_INFINITY });
