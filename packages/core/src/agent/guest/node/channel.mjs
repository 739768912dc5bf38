import { Socket } from "node:net";
import { isatty, ReadStream, WriteStream } from "node:tty";
import { encodeFrame, FrameDecoder, ProtocolError } from "./frames.mjs";

const agentPreamble = "\nSANDKIT-AGENT/1\n";
/** What may wait for the host to read, over all lanes, before programs are held up. */
const maxWaitingBytes = 1024 * 1024;

/** The byte stream to the host: descriptors 0 and 1. */
export class Channel {
  /** Called when the host takes bytes again. */
  onRoom = () => undefined;
  #input;
  #output;
  #decoder = new FrameDecoder();

  constructor() {
    if (isatty(0)) {
      this.#input = new ReadStream(0);
      this.#input.setRawMode(true);
    } else {
      this.#input = new Socket({ fd: 0, readable: true, writable: false });
    }
    this.#output = isatty(1) ? new WriteStream(1) : new Socket({ fd: 1, readable: false, writable: true });
    this.#output.on("drain", () => this.onRoom());
    this.#output.write(agentPreamble);
  }

  /** @param listener `frame`, `broken` (the host breaks the protocol) and `ended` (the host is gone). */
  listen({ frame, broken, ended }) {
    this.#input.on("data", (bytes) => {
      try {
        for (const each of this.#decoder.push(bytes)) frame(each);
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        this.#input.pause();
        broken(error);
      }
    });
    this.#input.on("end", ended);
    this.#input.on("error", ended);
    this.#output.on("error", ended);
  }

  get hasRoom() {
    return this.#output.writableLength < maxWaitingBytes;
  }

  send(type, stream, lane, payload) {
    // Before the host has said how to speak, it cannot be told anything.
    if (this.#decoder.framing === undefined || !this.#output.writable) return;
    this.#output.write(encodeFrame(this.#decoder.framing, type, stream, lane, payload));
  }

  sendJson(type, stream, value) {
    this.send(type, stream, 0, Buffer.from(JSON.stringify(value)));
  }

  /** Resolves once the host has taken all that was said, or after `limitMs`. */
  async flush(limitMs) {
    if (!this.#output.writable) return;
    await new Promise((resolve) => {
      this.#output.end(resolve);
      this.#output.on("close", resolve);
      setTimeout(resolve, limitMs);
    });
  }
}
