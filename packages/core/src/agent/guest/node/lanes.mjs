import { AgentFailure } from "./failure.mjs";
import { frameType, ProtocolError, windowBytes } from "./frames.mjs";

/** Grants are joined until this much is owed. */
const grantBytes = windowBytes / 4;

/** Bytes from the host. It waits in here what has not been handed on: at most a window. */
export class IncomingLane {
  #channel;
  #stream;
  #number;
  #waiting = [];
  #wake = () => undefined;
  #window = windowBytes;
  #received = 0;
  #owed = 0;
  /** Whether the host has said that nothing more comes, wanted or not. */
  #ended = false;
  #state = "open";

  constructor(channel, stream, number) {
    this.#channel = channel;
    this.#stream = stream;
    this.#number = number;
  }

  add(bytes) {
    if (this.#ended) throw new ProtocolError("data came on a lane that has ended");
    if (bytes.length === 0) throw new ProtocolError("data without bytes");
    this.#received += bytes.length;
    // It was under way when the lane was refused: whatever its amount, it is dropped.
    if (this.#state !== "open") return;
    if (bytes.length > this.#window) {
      throw new ProtocolError(`${bytes.length} bytes came on a lane that may carry ${this.#window}`);
    }
    this.#window -= bytes.length;
    // A copy: a small piece must not keep the whole chunk that it came in.
    this.#waiting.push(Buffer.from(bytes));
    this.#wake();
  }

  end(payload) {
    if (this.#ended) throw new ProtocolError("a lane ended twice");
    if (payload.length !== 8) throw new ProtocolError("an end without its total");
    if (payload.readBigUInt64BE() !== BigInt(this.#received)) {
      throw new ProtocolError(`${this.#received} bytes arrived of ${payload.readBigUInt64BE()}`);
    }
    this.#ended = true;
    if (this.#state === "open") this.#state = "ended";
    this.#wake();
  }

  /** The host takes back what it sent. */
  cancel() {
    if (this.#state === "open") this.#state = "cancelled";
    this.#wake();
  }

  /** Nobody here wants more. */
  close() {
    if (this.#state === "open") {
      this.#state = "closed";
      this.#channel.send(frameType.cancel, this.#stream, this.#number, Buffer.alloc(0));
    }
    this.#waiting.length = 0;
    this.#wake();
  }

  /** The next bytes; null at the end. @throws AgentFailure `ECANCELED` when the host gave up */
  async next() {
    for (;;) {
      if (this.#state === "cancelled") throw new AgentFailure("ECANCELED", "given up by the host");
      const bytes = this.#waiting.shift();
      if (bytes) return bytes;
      if (this.#state !== "open") return null;
      await new Promise((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Grants the host as much as was handed on. */
  handedOn(bytes) {
    this.#owed += bytes;
    if (this.#owed < grantBytes || this.#state !== "open") return;
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(this.#owed);
    this.#window += this.#owed;
    this.#owed = 0;
    this.#channel.send(frameType.credit, this.#stream, this.#number, payload);
  }
}

/** Bytes to the host, as far as it has granted. */
export class OutgoingLane {
  /** Called when there may be room again. */
  onRoom = () => undefined;
  /** Called when it has ended. */
  onEnd = () => undefined;
  ended = false;
  cancelled = false;
  #channel;
  #stream;
  #number;
  #credit = windowBytes;
  #total = 0;

  constructor(channel, stream, number) {
    this.#channel = channel;
    this.#stream = stream;
    this.#number = number;
  }

  /** How many bytes it takes now. */
  get room() {
    if (this.cancelled || this.ended) return Infinity;
    return this.#channel.hasRoom ? this.#credit : 0;
  }

  /** Sends no more than there is room for; what nobody wants is only counted. */
  send(bytes) {
    this.#total += bytes.length;
    if (this.cancelled || this.ended || bytes.length === 0) return;
    this.#credit -= bytes.length;
    this.#channel.send(frameType.data, this.#stream, this.#number, bytes);
  }

  /** Waits for room as it sends. */
  async sendAll(bytes) {
    for (let rest = bytes; rest.length > 0 && !this.cancelled; ) {
      const piece = rest.subarray(0, Math.min(rest.length, this.room));
      this.send(piece);
      rest = rest.subarray(piece.length);
      if (rest.length > 0) await this.#more();
    }
  }

  #more() {
    return new Promise((resolve) => {
      this.onRoom = resolve;
    });
  }

  /** @param failed The total is then not what was sent, so that the host takes nothing for whole. */
  end(failed = false) {
    if (this.ended) return;
    this.ended = true;
    const payload = Buffer.alloc(8);
    payload.writeBigUInt64BE(BigInt(this.#total + (failed ? 1 : 0)));
    this.#channel.send(frameType.end, this.#stream, this.#number, payload);
    this.onRoom();
    this.onEnd();
  }

  grant(payload) {
    if (payload.length !== 4) throw new ProtocolError("a credit without its amount");
    this.#credit += payload.readUInt32BE();
    if (this.#credit > windowBytes) throw new ProtocolError("more was granted than was sent");
    this.onRoom();
  }

  cancel() {
    this.cancelled = true;
    this.onRoom();
  }
}
