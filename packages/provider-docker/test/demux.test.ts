import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { demultiplex } from "../src/engine/demux.js";

function frame(type: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt8(type, 0);
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The same numbers at every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

describe("demultiplex", () => {
  it("gives every byte in order, however frames and chunks are cut", async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const roll = dice(seed);
      const expected: Buffer[] = [];
      const frames = Array.from({ length: 200 }, (_, index) => {
        const payload = Buffer.alloc(roll(index % 10 === 0 ? 5_000 : 20), index);
        const type = roll(4) === 0 ? 2 : roll(8) === 0 ? 0 : 1;
        if (type !== 2) expected.push(payload);
        return frame(type, payload);
      });
      const bytes = Buffer.concat(frames);
      const source = new PassThrough();
      const { stdout } = demultiplex(source);
      const collected = collect(stdout);
      for (let at = 0; at < bytes.length; ) {
        const end = Math.min(bytes.length, at + 1 + roll(64));
        source.write(bytes.subarray(at, end));
        at = end;
      }
      source.end();
      expect((await collected).equals(Buffer.concat(expected)), `seed ${seed}`).toBe(true);
    }
  });

  it("takes tens of thousands of frames in one chunk", async () => {
    const source = new PassThrough();
    const { stdout } = demultiplex(source);
    const collected = collect(stdout);
    source.end(Buffer.concat(Array.from({ length: 40_000 }, () => frame(1, Buffer.from("x")))));
    expect((await collected).length).toBe(40_000);
  });

  it("holds the source up while nobody reads", async () => {
    const source = new PassThrough({ highWaterMark: 16 * 1024 });
    const { stdout } = demultiplex(source);
    let sent = 0;
    const payload = frame(1, Buffer.alloc(64 * 1024));
    while (source.write(payload) && sent < 100) {
      sent += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(20);
    source.end();
    expect((await collect(stdout)).length).toBe((sent + 1) * 64 * 1024);
  });

  it("keeps the end of stderr only", async () => {
    const source = new PassThrough();
    const { stdout, stderr } = demultiplex(source);
    const collected = collect(stdout);
    for (let round = 0; round < 100; round++) source.write(frame(2, Buffer.from(`${round}`.padStart(1_000, "."))));
    source.end();
    await collected;
    expect(stderr().length).toBeLessThanOrEqual(16 * 1024);
    expect(stderr().endsWith("99")).toBe(true);
  });

  it("refuses a stream that has no frames", async () => {
    const source = new PassThrough();
    const { stdout } = demultiplex(source);
    source.write("this is the raw output of a terminal");
    await expect(collect(stdout)).rejects.toThrow(/frame of type/);
  });

  it("ends when the connection is cut in the middle of a frame", async () => {
    const source = new PassThrough();
    const { stdout } = demultiplex(source);
    const collected = collect(stdout);
    source.write(frame(1, Buffer.from("whole")));
    source.write(frame(1, Buffer.from("half of it")).subarray(0, 10));
    await new Promise((resolve) => setImmediate(resolve));
    source.destroy();
    expect((await collected).toString()).toBe("wholeha");
  });
});
