import { type Deferred, deferred } from "@sandkit/core";
import { encodeFrame } from "./frames.js";

/** Bytes that may be on their way to or from a helper without having been taken. */
const windowBytes = 256 * 1024;

/** A program of `guest/` that runs in a box: a stream of bytes each way. */
export class Helper {
  /** What it says, pulled; ends with it. One consumer. */
  readonly output: AsyncGenerator<Buffer>;
  readonly #number: number;
  readonly #send: (frame: Uint8Array) => Promise<void>;
  readonly #received: Buffer[] = [];
  #more: Deferred<void> | undefined;
  #taken: Deferred<void> | undefined;
  #sentBytes = 0;
  #over = false;

  /** @param send Hands a frame to `helpers.py`. */
  constructor(number: number, send: (frame: Uint8Array) => Promise<void>) {
    this.#number = number;
    this.#send = send;
    this.output = this.#pull();
  }

  /** Starts it. */
  async open(name: string, args: readonly string[]): Promise<void> {
    await this.#frame("O", JSON.stringify([name, args]));
    await this.#grant(windowBytes);
  }

  /** Sends it bytes, waiting while it does not take them. After its end it does nothing. */
  async write(bytes: Uint8Array): Promise<void> {
    while (this.#sentBytes >= windowBytes && !this.#over) {
      this.#taken ??= deferred();
      await this.#taken.promise;
    }
    if (this.#over) return;
    this.#sentBytes += bytes.length;
    await this.#frame("D", bytes);
  }

  /** It reads end of file after what was written. */
  async end(): Promise<void> {
    if (!this.#over) await this.#frame("E");
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    if (!this.#over) await this.#frame("K");
  }

  /** For those who read the frames of all helpers. */
  receive(kind: string, payload: Buffer): void {
    if (kind === "D") {
      this.#received.push(payload);
      this.#more?.resolve();
    } else if (kind === "T") {
      this.#sentBytes -= payload.readUInt32BE(0);
      this.#taken?.resolve();
      this.#taken = undefined;
    } else if (kind === "E") this.close();
  }

  /** Nothing more will come or be taken. */
  close(): void {
    this.#over = true;
    this.#more?.resolve();
    this.#taken?.resolve();
  }

  async *#pull(): AsyncGenerator<Buffer> {
    for (;;) {
      const [bytes] = this.#received.splice(0, 1);
      if (bytes) {
        yield bytes;
        if (!this.#over) await this.#grant(bytes.length);
      } else if (this.#over) return;
      else {
        this.#more = deferred();
        await this.#more.promise;
      }
    }
  }

  async #grant(count: number): Promise<void> {
    const room = Buffer.alloc(4);
    room.writeUInt32BE(count);
    await this.#frame("W", room);
  }

  #frame(kind: string, payload?: Uint8Array | string): Promise<void> {
    return this.#send(encodeFrame(kind, payload, this.#number));
  }
}
