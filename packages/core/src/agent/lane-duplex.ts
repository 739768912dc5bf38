import { Duplex } from "node:stream";
import type { AgentStream } from "./connection.js";
import { ProtocolError } from "./frames.js";
import type { IncomingLane, OutgoingLane } from "./lanes.js";
import { lane } from "./protocol.js";

/** A connection between the box and this program, as a stream of Node: ends of its own for each direction, like TCP. */
export class LaneDuplex extends Duplex {
  readonly #incoming: IncomingLane;
  readonly #outgoing: OutgoingLane;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  /**
   * A connection over the lanes of a stream.
   * @param onOver Told once: both directions have ended, and nothing that came waits to be read.
   */
  static over(stream: AgentStream, onOver: () => void): LaneDuplex {
    const [incoming, outgoing] = [stream.incoming.get(lane.out), stream.outgoing.get(lane.in)];
    if (!incoming || !outgoing) throw new ProtocolError(`stream ${stream.id} is no connection`);
    return new LaneDuplex(incoming, outgoing, onOver);
  }

  private constructor(incoming: IncomingLane, outgoing: OutgoingLane, onOver: () => void) {
    // One piece at a time: what is not read waits in the lane, which is bounded by more than its bytes.
    super({ allowHalfOpen: true, readableHighWaterMark: 1 });
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#reader = incoming.stream.getReader();
    // Who uses it hears of its end in other ways too; without anybody, a connection that breaks is nobody's business.
    this.on("error", () => undefined);
    Promise.all([incoming.done, outgoing.over]).then(onOver);
  }

  override async _read(): Promise<void> {
    try {
      const { done, value } = await this.#reader.read();
      if (!this.destroyed) this.push(done ? null : value);
    } catch (error) {
      this.destroy(error instanceof ProtocolError ? reset(error) : asError(error));
    }
  }

  override async _write(bytes: Uint8Array, _encoding: string, callback: (error?: Error | null) => void): Promise<void> {
    await this.#outgoing.write(bytes);
    if (!this.#outgoing.isOver) {
      callback();
      return;
    }
    // The other end reads no more. What it has said before that can be read still.
    await this.#incoming.done;
    callback(reset());
  }

  override async _final(callback: (error?: Error | null) => void): Promise<void> {
    await this.#outgoing.end();
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#outgoing.abandon();
    // It may be closed already; then there is nothing to cancel.
    this.#reader.cancel().catch(() => undefined);
    callback(error);
  }
}

function reset(cause?: Error): Error {
  return Object.assign(new Error("the other end has reset the connection", { cause }), { code: "ECONNRESET" });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
