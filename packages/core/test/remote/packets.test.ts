import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  DamagedError,
  encodeResume,
  headerBytes,
  type LinkEvent,
  maxPayloadBytes,
  PacketReader,
  packetKind,
  sealPacket,
} from "../../src/remote/packets.js";
import { SentBytes } from "../../src/remote/sent-bytes.js";

const nonce = randomBytes(16);

function packet(kind: number, offset: number, received: number, payload = ""): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(headerBytes), Buffer.from(payload)]);
  sealPacket(bytes, kind, offset, received);
  return bytes;
}

/** What the guest answers; what the host asks has the same end. */
function answer(received: number): Buffer {
  return encodeResume(new Uint8Array(), nonce, received);
}

function read(...pieces: Uint8Array[]): LinkEvent[] {
  const reader = new PacketReader();
  reader.expect(nonce);
  return pieces.flatMap((piece) => [...reader.push(piece)]);
}

describe("packets", () => {
  const said = Buffer.concat([
    Buffer.from("junk, and half of a packet"),
    answer(7),
    packet(packetKind.data, 0, 3, "hello"),
    packet(packetKind.lost, 5, 3),
    packet(packetKind.end, 5, 4),
  ]);
  const meant = [
    { type: "resumed", received: 7 },
    { type: "data", offset: 0, received: 3, payload: Buffer.from("hello") },
    { type: "lost", offset: 5, received: 3 },
    { type: "end", offset: 5, received: 4 },
  ];

  it("are read after the answer to the resumption, whatever was before it", () => {
    expect(read(said)).toEqual(meant);
  });

  it("are read from pieces cut anywhere", () => {
    expect(read(...[...said].map((byte) => Uint8Array.of(byte)))).toEqual(meant);
    for (let cut = 1; cut < said.length; cut += 1) {
      expect(read(said.subarray(0, cut), said.subarray(cut))).toEqual(meant);
    }
  });

  it.each([
    ["a flipped bit", () => damaged(packet(packetKind.data, 0, 0, "hello"))],
    ["noise", () => Buffer.alloc(100, 0xff)],
    ["a length beyond the limit", () => packet(packetKind.data, 0, 0, "x".repeat(maxPayloadBytes + 1))],
    ["a kind that nobody knows", () => packet(9, 0, 0)],
  ])("with %s are refused", (_what, bytes) => {
    expect(() => read(answer(0), bytes())).toThrow(DamagedError);
  });

  it("that are damaged in the answer are refused", () => {
    expect(() => read(damaged(answer(0)))).toThrow(DamagedError);
  });

  it("are not waited for without end", () => {
    const reader = new PacketReader();
    reader.expect(nonce);
    const flood = () => {
      for (let count = 0; count < 100; count += 1) [...reader.push(Buffer.alloc(1024 * 1024))];
    };
    expect(flood).toThrow(DamagedError);
  });
});

describe("what was sent", () => {
  /** The payloads of packets, with the number of their first byte. */
  function taken(sent: SentBytes, limit: number): [number, string][] {
    const events = read(answer(0), sent.take(limit, 0));
    return events.flatMap((event) => (event.type === "data" ? [[event.offset, event.payload.toString()]] : []));
  }

  it("is sent in order, in as few packets as fit, and again after a rewind", () => {
    const sent = new SentBytes();
    for (const word of ["one ", "two ", "three"]) sent.add(Buffer.from(word));
    expect(taken(sent, headerBytes + 6)).toEqual([[0, "one tw"]]);
    sent.acknowledge(2);
    expect(taken(sent, 1000)).toEqual([[6, "o three"]]);
    expect(sent.hasUnsent).toBe(false);
    sent.rewind(4);
    expect(sent.size).toBe(9);
    expect(taken(sent, 1000)).toEqual([[4, "two three"]]);
    sent.acknowledge(13);
    expect(sent.size).toBe(0);
  });

  it("cannot have arrived before it was sent", () => {
    const sent = new SentBytes();
    sent.add(Buffer.from("never sent"));
    expect(() => sent.acknowledge(1)).toThrow(RangeError);
    expect(() => sent.rewind(11)).toThrow(RangeError);
  });

  it("may arrive after a rewind, when a broken connection still had it on its way", () => {
    const sent = new SentBytes();
    sent.add(Buffer.from("one two"));
    expect(taken(sent, 1000)).toEqual([[0, "one two"]]);
    sent.rewind(2);
    sent.acknowledge(6);
    expect(taken(sent, 1000)).toEqual([[6, "o"]]);
    sent.acknowledge(7);
    expect(sent.size).toBe(0);
    expect(() => sent.acknowledge(8)).toThrow(RangeError);
  });

  it("fills several packets when it is much", () => {
    const sent = new SentBytes();
    const bytes = randomBytes(3 * maxPayloadBytes + 5);
    sent.add(bytes);
    const events = read(answer(0), sent.take(1024 * 1024, 9));
    const payloads = events.flatMap((event) => (event.type === "data" ? [event.payload] : []));
    expect(payloads).toHaveLength(4);
    expect(Buffer.concat(payloads).equals(bytes)).toBe(true);
  });
});

function damaged(bytes: Buffer): Buffer {
  const at = bytes.length - 1;
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes;
}
