import type { Readable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";

/** Takes bytes as they come in, and gives the messages among them. */
type TakeBytes = (bytes: Buffer, onMessage: (message: JSONRPCMessage) => void) => void;

/** One client at the other end of a pipe each way, a message a line. What it sends is parsed and looked at once. */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #input: Readable;
  readonly #take: TakeBytes;
  readonly #write: (text: string) => Promise<void>;
  readonly #onData = (bytes: Buffer) => this.#take(bytes, (message) => this.#receive(message));
  readonly #onEnd = () => void this.close();
  #closed = false;

  constructor(input: Readable, take: TakeBytes, write: (text: string) => Promise<void>) {
    this.#input = input;
    this.#take = take;
    this.#write = write;
  }

  async start(): Promise<void> {
    for (const event of ["end", "close", "error"]) this.#input.once(event, this.#onEnd);
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#onEnd);
    this.#input.on("data", this.#onData);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new Error("the client has gone");
    await this.#write(`${JSON.stringify(message)}\n`);
  }

  /** What is wrong with one message is no reason to leave the others. */
  #receive(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off("data", this.#onData).pause();
    this.onclose?.();
  }
}
