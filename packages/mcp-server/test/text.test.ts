import { describe, expect, it } from "vitest";
import { duration, joinSections, size } from "../src/result/text.js";
import { readLines } from "../src/text-lines.js";

describe("joinSections", () => {
  it("leaves short text alone and drops the label of stdout alone", () => {
    expect(joinSections([{ label: "stdout", text: "a\n" }], 100)).toEqual({ text: "a", truncated: false, cut: [] });
    const two = joinSections(
      [
        { label: "stdout", text: "a" },
        { label: "stderr", text: "b\n\n" },
      ],
      100,
    );
    expect(two).toEqual({ text: "[stdout]\na\n[stderr]\nb", truncated: false, cut: [] });
    expect(joinSections([], 100)).toEqual({ text: "", truncated: false, cut: [] });
  });

  it("keeps head and tail of the long, and the short whole", () => {
    const long = `${"a".repeat(500)}${"z".repeat(500)}`;
    const { text, truncated, cut } = joinSections(
      [
        { label: "stdout", text: long },
        { label: "error", text: "boom" },
      ],
      104,
    );
    expect(truncated).toBe(true);
    expect(cut).toEqual(["stdout"]);
    expect(text).toContain("boom");
    expect(text).toMatch(/a{50}\n\[\.\.\. 900 bytes of 1\.00 kB left out here/);
    expect(text).toMatch(/\]\nz{50}\n\[error\]/);
  });

  it("counts what the capture has left out already", () => {
    const { text } = joinSections([{ label: "stdout", text: "x".repeat(1000), totalBytes: 5_000_000 }], 100);
    expect(text).toContain("[... 5.00 MB of 5.00 MB left out here");
  });

  it("never cuts a character in two", () => {
    for (const budget of [10, 11, 12, 13]) {
      const { text } = joinSections([{ label: "stdout", text: "🙂".repeat(100) }], budget);
      expect(text).not.toMatch(/\p{Surrogate}/u);
    }
  });
});

describe("readLines", () => {
  const from = (...chunks: Uint8Array[]) =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
  const everything = { offset: 1, limit: Number.POSITIVE_INFINITY };

  it("puts characters together across chunks", async () => {
    const bytes = new TextEncoder().encode("é🙂\nb");
    const chunks = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(await readLines(from(...chunks), everything, 100)).toEqual({ summary: "(lines 1-2 of 2)", text: "é🙂\nb" });
  });

  it("reads no further than needed", async () => {
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new TextEncoder().encode("line\n"));
      },
    });
    expect((await readLines(endless, { offset: 3, limit: 2 }, 100))?.text).toBe("line\nline");
    expect(pulled).toBeLessThan(10);
  });

  it("tells bytes that are no text", async () => {
    expect(await readLines(from(Uint8Array.of(0x61, 0xff)), everything, 100)).toBeUndefined();
    expect(await readLines(from(Uint8Array.of(0x61, 0xc3)), everything, 100)).toBeUndefined();
  });
});

it("sizes and durations are short", () => {
  expect([0, 999, 1000, 123_456, 1e8, 2e9].map(size)).toEqual([
    "0 bytes",
    "999 bytes",
    "1.00 kB",
    "123 kB",
    "100 MB",
    "2.00 GB",
  ]);
  expect([0.4, 12.3, 1500].map(duration)).toEqual(["0 ms", "12 ms", "1.5 s"]);
});
