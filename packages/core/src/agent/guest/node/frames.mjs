/** Numbers and framing of protocol.ts, which explains them. */
export const frameType = {
  request: 1,
  response: 2,
  data: 3,
  end: 4,
  credit: 5,
  cancel: 6,
  event: 7,
  ping: 8,
  pong: 9,
  farewell: 10,
  open: 11,
  close: 12,
};
export const laneNumber = { in: 0, out: 1, err: 2, controlIn: 3, controlOut: 4 };
export const windowBytes = 256 * 1024;
export const maxStreams = 1024;
export const firstAgentStream = 0x80000000;
export const maxConnections = 128;

const maxPayloadBytes = 256 * 1024;
const maxRequestBytes = 4 * 1024 * 1024;
const maxLineBytes = Math.ceil(((maxRequestBytes + 10) * 4) / 3) + 8;
/** What may come before the preamble of the host. */
const maxJunkBytes = 1024 * 1024;
const hostPreamble = /\nSANDKIT-HOST\/1 ([bt])\n/;
const preambleBytes = 18;
const headerBytes = 10;
const colon = 58;

/** The host broke a rule of the protocol, or the channel is damaged: the agent ends. */
export class ProtocolError extends Error {
  name = "ProtocolError";
}

export function encodeFrame(framing, type, stream, lane, payload) {
  const frame = Buffer.allocUnsafe(headerBytes + payload.length);
  frame.writeUInt32BE(headerBytes - 4 + payload.length, 0);
  frame[4] = type;
  frame[5] = lane;
  frame.writeUInt32BE(stream, 6);
  frame.set(payload, headerBytes);
  return framing === "b" ? frame : Buffer.from(`:${frame.toString("base64")}\n`, "latin1");
}

/** Cuts what the host says into frames, once its preamble has said how. */
export class FrameDecoder {
  /** `b` or `t`; undefined before the preamble. */
  framing;
  #pieces = [];
  #length = 0;
  /** As many bytes are needed before it is worth looking again. */
  #needed = 0;
  #skipped = 0;

  *push(piece) {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length < this.#needed) return;
    let rest = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    this.#needed = 0;
    if (this.framing === undefined) rest = this.#skipJunk(rest);
    if (this.framing === "b") rest = yield* this.#binary(rest);
    else if (this.framing === "t") rest = yield* this.#text(rest);
    this.#pieces = rest.length ? [rest] : [];
    this.#length = rest.length;
  }

  #skipJunk(rest) {
    const found = hostPreamble.exec(rest.toString("latin1"));
    const skip = found ? found.index + preambleBytes : Math.max(0, rest.length - preambleBytes);
    this.framing = found?.[1];
    this.#skipped += skip;
    if (!found && this.#skipped > maxJunkBytes) throw new ProtocolError("no host speaks on this channel");
    return rest.subarray(skip);
  }

  *#binary(rest) {
    let start = 0;
    while (rest.length - start >= 5) {
      const length = rest.readUInt32BE(start);
      checkLength(length, rest[start + 4]);
      if (rest.length - start < 4 + length) {
        this.#needed = 4 + length;
        break;
      }
      yield frameOf(rest.subarray(start + 4, start + 4 + length));
      start += 4 + length;
    }
    return rest.subarray(start);
  }

  *#text(rest) {
    let start = 0;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
      const line = rest.toString("latin1", start, end).trim();
      start = end + 1;
      if (!line.startsWith(":")) continue;
      const frame = Buffer.from(line.slice(1), "base64");
      if (frame.length < headerBytes || frame.readUInt32BE(0) !== frame.length - 4) {
        throw new ProtocolError("a line is damaged");
      }
      checkLength(frame.length - 4, frame[4]);
      yield frameOf(frame.subarray(4));
    }
    if (rest.length > start && rest[start] !== colon) {
      // No frame, however long it gets: one byte is enough to know that.
      return rest.subarray(start, start + 1);
    }
    if (rest.length - start > maxLineBytes) throw new ProtocolError("a line does not end");
    return rest.subarray(start);
  }
}

function checkLength(length, type) {
  const limit = type === frameType.request ? maxRequestBytes : maxPayloadBytes;
  if (length < headerBytes - 4 || length > headerBytes - 4 + limit) {
    throw new ProtocolError(`a frame of type ${type} claims ${length} bytes`);
  }
}

function frameOf(bytes) {
  return { type: bytes[0], lane: bytes[1], stream: bytes.readUInt32BE(2), payload: bytes.subarray(6) };
}
