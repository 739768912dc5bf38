import { headerBytes, maxPayloadBytes, packetKind, sealPacket } from "./packets.js";

/** What has to be kept until the guest has it. */
export class SentBytes {
  /** Those from {@link acknowledged} on. */
  #chunks: Uint8Array[] = [];
  #acknowledged = 0;
  /** How many of them have been sent on this connection. */
  #sent = 0;
  #size = 0;
  /** Where those end that were ever sent: what was on its way when a connection broke may arrive after the next began. */
  #reached = 0;

  /** Bytes that are neither sent nor acknowledged, and those that are sent only. */
  get size(): number {
    return this.#size;
  }

  get hasUnsent(): boolean {
    return this.#sent < this.#size;
  }

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#chunks.push(bytes);
    this.#size += bytes.length;
  }

  /** @throws RangeError for what was never sent */
  acknowledge(received: number): void {
    let count = received - this.#acknowledged;
    const excess = received - this.#reached;
    if (excess > 0) throw new RangeError(`the guest received ${excess} bytes more than were sent`);
    if (count <= 0) return;
    this.#acknowledged = received;
    this.#size -= count;
    this.#sent = Math.max(0, this.#sent - count);
    let done = 0;
    for (let first = this.#chunks[0]; first && count >= first.length; first = this.#chunks[done]) {
      count -= first.length;
      done += 1;
    }
    this.#chunks.splice(0, done);
    const [first] = this.#chunks;
    if (first && count > 0) this.#chunks[0] = first.subarray(count);
  }

  /** All after what the guest has is to be sent again. @throws RangeError */
  rewind(received: number): void {
    this.acknowledge(received);
    this.#sent = 0;
  }

  /** Packets with what comes next, in `limit` bytes at most, and all that fit. */
  take(limit: number, received: number): Buffer {
    const packets: Buffer[] = [];
    for (let room = limit - headerBytes; room > 0 && this.hasUnsent; ) {
      const length = Math.min(room, maxPayloadBytes, this.#size - this.#sent);
      const packet = Buffer.allocUnsafe(headerBytes + length);
      this.#copy(packet, headerBytes);
      sealPacket(packet, packetKind.data, this.#acknowledged + this.#sent, received);
      this.#sent += length;
      this.#reached = Math.max(this.#reached, this.#acknowledged + this.#sent);
      room -= headerBytes + length;
      packets.push(packet);
    }
    return packets.length === 1 && packets[0] ? packets[0] : Buffer.concat(packets);
  }

  #copy(target: Buffer, from: number): void {
    let skip = this.#sent;
    let at = from;
    for (const chunk of this.#chunks) {
      if (at === target.length) return;
      if (skip >= chunk.length) {
        skip -= chunk.length;
        continue;
      }
      const piece = chunk.subarray(skip, skip + target.length - at);
      target.set(piece, at);
      at += piece.length;
      skip = 0;
    }
  }
}
