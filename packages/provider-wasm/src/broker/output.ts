import type { BrokerEnd } from "../link.js";
import { type OutputStream, outputWindow } from "../protocol.js";

/** Moves output from a worker's ring to the caller, as far ahead as the caller's reading allows. */
export class Output {
  readonly #underWay = { stdout: 0, stderr: 0 };
  readonly #link: BrokerEnd;
  readonly #merge: boolean;
  readonly #send: (stream: OutputStream, bytes: Uint8Array) => void;

  constructor(link: BrokerEnd, merge: boolean, send: (stream: OutputStream, bytes: Uint8Array) => void) {
    this.#link = link;
    this.#merge = merge;
    this.#send = send;
  }

  /** The caller has taken so many bytes. */
  taken(stream: OutputStream, bytes: number): void {
    this.#underWay[stream] -= bytes;
    this.move();
  }

  /** Sends what may be sent; the rest stays in the ring, and a full ring holds the program up. */
  move(): void {
    this.#link.listen();
    this.#drain((stream) => this.#underWay[stream] < outputWindow);
  }

  /** Sends all of it. The ring bounds how much that can be. */
  flush(): void {
    this.#drain(() => true);
  }

  #drain(accept: (stream: OutputStream) => boolean): void {
    // Many small records of one stream become one message.
    let pieces: Uint8Array[] = [];
    let current: OutputStream = "stdout";
    const send = () => {
      if (pieces.length > 0) this.#send(current, Buffer.concat(pieces));
      pieces = [];
    };
    for (;;) {
      const record = this.#link.takeOutput((number) => accept(this.#name(number)));
      if (!record) break;
      const stream = this.#name(record.stream);
      if (stream !== current) send();
      current = stream;
      pieces.push(record.bytes);
      this.#underWay[stream] += record.bytes.length;
    }
    send();
  }

  #name(number: number): OutputStream {
    return number === 2 && !this.#merge ? "stderr" : "stdout";
  }
}
