import { crc32 } from "node:zlib";

/**
 * What the two ends of a link say to each other over a terminal: the host here, the guest in `guest/link`. This page is
 * the specification for both.
 *
 * **Start.** A line that is typed into the shell of the terminal starts a loader, which makes the terminal raw; then
 * each end of the link speaks packets, after a first resumption. `start-link.ts` has the details.
 *
 * **Packets.** `u32 check | u8 kind | u24 length | u64 offset | u64 received | payload`, big endian. `check` is the
 * CRC-32 of all that follows it; `length` is that of the payload, {@link maxPayloadBytes} at most. Each direction is one
 * endless run of bytes: `offset` is the number of the first byte of the payload in it, and `received` says how many
 * bytes of the other direction have arrived here without a gap, which its sender may then forget. A receiver drops what
 * it has already, and never takes what comes after a gap.
 *
 * **Acknowledgements** go along with data. One is sent alone when {@link acknowledgeBytes} or more came meanwhile. An
 * end that has {@link windowBytes} unacknowledged takes no more from its own side until some is.
 *
 * **Resumption.** A connection to a terminal may break at any byte, and what the guest writes while there is none is
 * lost. On each connection the host says first `key | nonce | u64 received | u32 CRC-32 of the two`: the guest knows the
 * 16 random bytes of the key from its start and looks for them wherever a packet does not end, as nothing else may hold
 * them. It answers with `nonce | u64 received | u32 CRC-32 of the two`, cuts its current packet short for that, and goes
 * on with the byte that the host has not received. The host skips all until it sees its nonce (16 random bytes, new
 * each time). Then it goes on likewise.
 *
 * **Damage.** What is no packet to the host breaks the connection. A guest says so (`lost`), and skips all until the
 * next resumption; the host resumes on the same connection.
 *
 * **End.** A guest says `end` after the last byte of an agent that has gone; a host when it wants the guest to end. A
 * guest ends by itself when it has heard nothing for a minute; the agent's heartbeat comes through it.
 */
export const packetKind = { data: 0, end: 1, lost: 2 } as const;

export const maxPayloadBytes = 32 * 1024;
export const windowBytes = 1024 * 1024;
export const acknowledgeBytes = 256 * 1024;
export const headerBytes = 24;
export const keyBytes = 16;
export const nonceBytes = 16;

/** What may come before the answer to a resumption: what the guest, and the terminal on the way, had under way. */
const maxSkippedBytes = 16 * 1024 * 1024;

/** What arrived is not what was sent: the connection must be made anew. */
export class DamagedError extends Error {
  override readonly name = "DamagedError";
}

/** What the guest says. */
export type LinkEvent =
  | { readonly type: "resumed"; readonly received: number }
  | { readonly type: "end" | "lost"; readonly offset: number; readonly received: number }
  | { readonly type: "data"; readonly offset: number; readonly received: number; readonly payload: Buffer };

/** Writes the head of a packet, whose payload is behind it already. */
export function sealPacket(packet: Buffer, kind: number, offset: number, received: number): void {
  packet.writeUInt32BE(kind * 2 ** 24 + packet.length - headerBytes, 4);
  packet.writeBigUInt64BE(BigInt(offset), 8);
  packet.writeBigUInt64BE(BigInt(received), 16);
  packet.writeUInt32BE(crc32(packet.subarray(4)), 0);
}

/** What the host says first on each connection. */
export function encodeResume(key: Uint8Array, nonce: Uint8Array, received: number): Buffer {
  const body = Buffer.alloc(nonceBytes + 12);
  body.set(nonce);
  body.writeBigUInt64BE(BigInt(received), nonceBytes);
  body.writeUInt32BE(crc32(body.subarray(0, nonceBytes + 8)), nonceBytes + 8);
  return Buffer.concat([key, body]);
}

/** Cuts what the guest says into events, on one connection. Takes pieces of any size. */
export class PacketReader {
  #nonce: Uint8Array | undefined;
  /** What is not complete yet; joined once there is enough. */
  #pieces: Buffer[] = [];
  #size = 0;
  #needed = 0;
  #skipped = 0;

  /** Skips all until the answer to a resumption with this nonce. */
  expect(nonce: Uint8Array): void {
    this.#nonce = nonce;
    this.#needed = 0;
    this.#skipped = 0;
  }

  /** The events that are complete with this piece. @throws DamagedError */
  *push(piece: Uint8Array): Generator<LinkEvent> {
    this.#pieces.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    this.#size += piece.byteLength;
    if (this.#size < this.#needed) return;
    const [first = Buffer.alloc(0)] = this.#pieces;
    let rest = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    for (;;) {
      const nonce = this.#nonce;
      if (nonce) rest = this.#skip(rest, nonce);
      const size = nonce ? resumedBytes : packetBytes(rest);
      if (rest.length < size) {
        this.#keep(rest, size);
        return;
      }
      const packet = rest.subarray(0, size);
      rest = rest.subarray(size);
      if (nonce) this.#nonce = undefined;
      yield nonce ? resumed(packet) : decode(packet);
    }
  }

  #keep(rest: Buffer, needed: number): void {
    this.#pieces = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    this.#needed = this.#nonce ? rest.length + 1 : needed;
  }

  /** From the answer on, or what may be its begin. */
  #skip(data: Buffer, nonce: Uint8Array): Buffer {
    const at = data.indexOf(nonce);
    if (at >= 0) return data.subarray(at);
    const skipped = Math.max(0, data.length - nonceBytes + 1);
    this.#skipped += skipped;
    if (this.#skipped > maxSkippedBytes) throw new DamagedError(`no answer within ${maxSkippedBytes} bytes`);
    return data.subarray(skipped);
  }
}

const resumedBytes = nonceBytes + 12;

function packetBytes(data: Buffer): number {
  if (data.length < headerBytes) return headerBytes;
  const length = data.readUIntBE(5, 3);
  if (length > maxPayloadBytes) throw new DamagedError(`a packet with ${length} bytes`);
  return headerBytes + length;
}

function resumed(answer: Buffer): LinkEvent {
  if (crc32(answer.subarray(0, -4)) !== answer.readUInt32BE(nonceBytes + 8)) throw new DamagedError("a damaged answer");
  return { type: "resumed", received: Number(answer.readBigUInt64BE(nonceBytes)) };
}

function decode(packet: Buffer): LinkEvent {
  if (crc32(packet.subarray(4)) !== packet.readUInt32BE(0)) throw new DamagedError("a damaged packet");
  const kind = packet.readUInt8(4);
  const offset = Number(packet.readBigUInt64BE(8));
  const received = Number(packet.readBigUInt64BE(16));
  if (kind === packetKind.data) return { type: "data", offset, received, payload: packet.subarray(headerBytes) };
  if (kind === packetKind.end) return { type: "end", offset, received };
  if (kind === packetKind.lost) return { type: "lost", offset, received };
  throw new DamagedError(`a packet of kind ${kind}`);
}
