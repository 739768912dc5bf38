import { agentPreamble, type Framing, frameType, maxPayloadBytes } from "./protocol.js";

/** One frame as it arrived. */
export interface Frame {
  readonly type: number;
  readonly lane: number;
  readonly stream: number;
  readonly payload: Buffer;
}

const headerBytes = 10;
/** What may come before the preamble: the echo of a terminal, the start of a log. */
const maxJunkBytes = 1024 * 1024;
const maxLineBytes = Math.ceil(((maxPayloadBytes + headerBytes) * 4) / 3) + 8;
const knownTypes: ReadonlySet<number> = new Set(Object.values(frameType));

/** The other end broke a rule of the protocol: nothing more that it says can be believed. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** One frame as bytes for the channel. */
export function encodeFrame(
  framing: Framing,
  type: number,
  stream: number,
  lane: number,
  payload: Uint8Array,
): Uint8Array {
  const frame = Buffer.allocUnsafe(headerBytes + payload.byteLength);
  frame.writeUInt32BE(headerBytes - 4 + payload.byteLength, 0);
  frame.writeUInt8(type, 4);
  frame.writeUInt8(lane, 5);
  frame.writeUInt32BE(stream, 6);
  frame.set(payload, headerBytes);
  return framing === "binary" ? frame : Buffer.from(`:${frame.toString("base64")}\n`, "latin1");
}

/** Cuts what arrives into frames. Takes pieces of any size, and keeps less than one frame of them. */
export class FrameDecoder {
  readonly #framing: Framing;
  /** What has arrived of a frame that is not complete; joined once there is enough. */
  #pieces: Buffer[] = [];
  #size = 0;
  #needed = 0;
  #rest: Buffer = Buffer.alloc(0);
  #started = false;
  #skipped = 0;

  constructor(framing: Framing) {
    this.#framing = framing;
  }

  /** Whether the agent's preamble has been seen. */
  get started(): boolean {
    return this.#started;
  }

  /** The frames that are complete with this piece. @throws ProtocolError */
  *push(piece: Uint8Array): Generator<Frame> {
    this.#pieces.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    this.#size += piece.byteLength;
    if (this.#size < this.#needed) return;
    this.#rest = this.#pieces.length === 1 && this.#pieces[0] ? this.#pieces[0] : Buffer.concat(this.#pieces);
    if (this.#started || this.#skipJunk()) yield* this.#framing === "binary" ? this.#binary() : this.#text();
    this.#pieces = [this.#rest];
    this.#size = this.#rest.length;
  }

  #skipJunk(): boolean {
    const at = this.#rest.indexOf(agentPreamble, 0, "latin1");
    this.#started = at >= 0;
    const skip = this.#started ? at + agentPreamble.length : Math.max(0, this.#rest.length - agentPreamble.length);
    this.#skipped += skip;
    this.#rest = this.#rest.subarray(skip);
    if (!this.#started && this.#skipped > maxJunkBytes) {
      throw new ProtocolError(`no agent answers: ${maxJunkBytes} bytes came that are not its preamble`);
    }
    return this.#started;
  }

  *#binary(): Generator<Frame> {
    let start = 0;
    this.#needed = 0;
    while (this.#rest.length - start >= 4) {
      const length = checkedLength(this.#rest.readUInt32BE(start));
      if (this.#rest.length - start < 4 + length) {
        this.#needed = 4 + length;
        break;
      }
      yield frameOf(this.#rest.subarray(start + 4, start + 4 + length));
      start += 4 + length;
    }
    this.#rest = this.#rest.subarray(start);
  }

  *#text(): Generator<Frame> {
    let start = 0;
    for (let end = this.#rest.indexOf(10); end >= 0; end = this.#rest.indexOf(10, start)) {
      const line = this.#rest.toString("latin1", start, end).trim();
      start = end + 1;
      if (!line.startsWith(":")) continue;
      const frame = Buffer.from(line.slice(1), "base64");
      if (frame.length < 4 || checkedLength(frame.readUInt32BE(0)) !== frame.length - 4) {
        throw new ProtocolError("a line of the agent is damaged");
      }
      yield frameOf(frame.subarray(4));
    }
    this.#rest = this.#rest.subarray(start);
    if (this.#rest.length > maxLineBytes) throw new ProtocolError("a line of the agent does not end");
  }
}

function checkedLength(length: number): number {
  if (length >= headerBytes - 4 && length <= headerBytes - 4 + maxPayloadBytes) return length;
  throw new ProtocolError(`a frame of the agent claims ${length} bytes`);
}

function frameOf(bytes: Buffer): Frame {
  const type = bytes.readUInt8(0);
  if (!knownTypes.has(type)) throw new ProtocolError(`a frame of the agent is of the unknown type ${type}`);
  return { type, lane: bytes.readUInt8(1), stream: bytes.readUInt32BE(2), payload: bytes.subarray(6) };
}
