import { messageOf, SandboxError } from "@sandkit/core";
import { providerName } from "./errors.js";

/**
 * What is kept of output that nobody has taken, in bytes, before the stream is held up. envd cuts off a client that
 * takes nothing for 15 s, and what is written after that is lost to it; what uses the terminal says by itself how much
 * may come, and that is less than this.
 */
const mostKeptBytes = 8 * 1024 * 1024;

/**
 * What one connection may carry, in bytes. The SDK keeps all that came on it for as long as it is open; the link goes
 * on over another one, without a loss.
 */
const mostCarriedBytes = 16 * 1024 * 1024;

/** The output of a terminal, from the SDK's callback to a stream. */
export class PtyOutput {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #takeMore: (() => void) | undefined;
  #carried = 0;
  #over = false;

  constructor() {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#takeMore?.(),
        cancel: () => this.#finish(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: mostKeptBytes }),
    );
  }

  /** For the SDK, which reads on when the promise has resolved. */
  readonly write = (bytes: Uint8Array): void | Promise<void> => {
    if (this.#over || bytes.length === 0) return;
    this.#controller?.enqueue(bytes);
    this.#carried += bytes.length;
    if (this.#carried >= mostCarriedBytes) {
      this.end();
      return;
    }
    if ((this.#controller?.desiredSize ?? 1) > 0) return;
    return new Promise((resolve) => {
      this.#takeMore = resolve;
    });
  };

  /** The program has ended, or the connection was given up. */
  end(): void {
    if (this.#over) return;
    this.#finish();
    this.#controller?.close();
  }

  /** The connection broke. */
  fail(cause: unknown): void {
    if (this.#over) return;
    this.#finish();
    const message = `the connection to the terminal broke: ${messageOf(cause)}`;
    this.#controller?.error(new SandboxError("TRANSPORT", message, { provider: providerName, cause }));
  }

  #finish(): void {
    this.#over = true;
    this.#takeMore?.();
  }
}
