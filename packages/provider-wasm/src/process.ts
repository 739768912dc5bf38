import type { ProcessExit, ProviderProcess } from "@sandkit/core";
import { deferred } from "@sandkit/core";
import type { JobObserver, SandboxChild } from "./child-process.js";
import { lostError, refusal } from "./errors.js";
import { type Interpreter, interpreterNames, type JobExit, type OutputStream } from "./protocol.js";

/** One program in the sandbox, as core sees it. */
export class WasmProcess implements ProviderProcess, JobObserver {
  readonly id: string;
  pid = 0;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly exited: Promise<ProcessExit>;
  readonly gone: Promise<void>;
  readonly #child: SandboxChild;
  readonly #sandboxId: string;
  readonly #interpreter: Interpreter;
  readonly #sinks: Record<OutputStream, OutputSink>;
  readonly #end = deferred<ProcessExit>();

  constructor(child: SandboxChild, id: string, sandboxId: string, interpreter: Interpreter) {
    this.#interpreter = interpreter;
    this.#child = child;
    this.id = id;
    this.#sandboxId = sandboxId;
    const sink = (stream: OutputStream) => new OutputSink((bytes) => child.taken(id, stream, bytes));
    this.#sinks = { stdout: sink("stdout"), stderr: sink("stderr") };
    this.stdout = this.#sinks.stdout.stream;
    this.stderr = this.#sinks.stderr.stream;
    this.exited = this.#end.promise;
    // A program here has no children: when its worker is gone, so is all of it.
    this.gone = this.exited.then(() => undefined);
    this.exited.catch(() => undefined);
    this.gone.catch(() => undefined);
  }

  async write(data: Uint8Array): Promise<void> {
    await this.#child.call("write", [this.id, data], { operation: "process.write" });
  }

  async closeStdin(): Promise<void> {
    await this.#child.call("closeInput", [this.id], { operation: "process.closeStdin" });
  }

  async kill(signal: string): Promise<void> {
    if (signal === "SIGSTOP" || signal === "SIGTSTP") {
      throw refusal("UNSUPPORTED", `a program in WebAssembly cannot be stopped and continued (${signal})`, "kill");
    }
    await this.#child.call("signal", [this.id, signal], { operation: "process.kill", subject: signal });
  }

  output(stream: OutputStream, bytes: Uint8Array): void {
    this.#sinks[stream].add(bytes);
  }

  ended({ crash, ...exit }: JobExit): void {
    if (crash !== undefined) {
      this.#sinks.stderr.add(Buffer.from(`Fatal ${interpreterNames[this.#interpreter]} error: ${crash}\n`));
    }
    this.#close();
    this.#end.resolve(exit);
  }

  lost(reason: string): void {
    this.#close();
    this.#end.reject(lostError(reason, { operation: "process", sandboxId: this.#sandboxId }));
  }

  #close(): void {
    this.#sinks.stdout.end();
    this.#sinks.stderr.end();
  }
}

/** A stream of what the child sends; what its consumer takes is reported, and that lets more come. */
class OutputSink {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #waiting: Uint8Array[] = [];
  readonly #onTaken: (bytes: number) => void;
  #wanted = false;
  #ended = false;
  #cancelled = false;

  constructor(onTaken: (bytes: number) => void) {
    this.#onTaken = onTaken;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#wanted = true;
          this.#serve();
        },
        cancel: () => {
          this.#cancelled = true;
          for (const bytes of this.#waiting.splice(0)) this.#onTaken(bytes.length);
        },
      },
      // Nothing is taken before it is asked for.
      { highWaterMark: 0 },
    );
  }

  add(bytes: Uint8Array): void {
    if (this.#cancelled) {
      this.#onTaken(bytes.length);
      return;
    }
    this.#waiting.push(bytes);
    this.#serve();
  }

  end(): void {
    this.#ended = true;
    this.#serve();
  }

  #serve(): void {
    if (this.#cancelled) return;
    const bytes = this.#wanted ? this.#waiting.shift() : undefined;
    if (bytes) {
      this.#wanted = false;
      this.#onTaken(bytes.length);
      this.#controller?.enqueue(bytes);
    }
    if (this.#ended && this.#waiting.length === 0) {
      this.#cancelled = true;
      this.#controller?.close();
    }
  }
}
