import { describe, expect, it } from "vitest";
import { OutputCapture } from "../src/output.js";

const bytes = (text: string) => new TextEncoder().encode(text);

/** Adds bytes in pieces of the given size. */
function captured(limit: number, data: Uint8Array, pieceBytes: number) {
  const capture = new OutputCapture(limit);
  for (let at = 0; at < data.length; at += pieceBytes) capture.add(data.subarray(at, at + pieceBytes));
  return capture.snapshot();
}

describe("OutputCapture", () => {
  it.each([1, 2, 3, 7, 64, 5000])("keeps everything up to the limit, in pieces of %i", (pieceBytes) => {
    const data = Uint8Array.from({ length: 1000 }, (_, i) => (i * 31) & 0xff);
    const result = captured(1000, data, pieceBytes);
    expect(result).toMatchObject({ totalBytes: 1000, truncated: false });
    expect(result.bytes).toEqual(data);
  });

  it.each([1, 2, 3, 7, 64, 5000])("keeps exactly head and tail beyond the limit, in pieces of %i", (pieceBytes) => {
    const data = Uint8Array.from({ length: 4321 }, (_, i) => (i * 31) & 0xff);
    const result = captured(101, data, pieceBytes);
    expect(result).toMatchObject({ totalBytes: 4321, truncated: true });
    expect(result.bytes).toEqual(Uint8Array.from([...data.subarray(0, 51), ...data.subarray(-50)]));
  });

  it("says in the text how many bytes are left out", () => {
    expect(captured(4, bytes("abcdefgh"), 3).text).toBe("ab\n[... 4 bytes left out ...]\ngh");
  });

  it("never cuts a character at the border of what is left out", () => {
    for (let limit = 2; limit < 40; limit += 1) {
      const { text } = captured(limit, bytes("äöü€😀".repeat(20)), 5);
      expect(text).not.toContain("\uFFFD");
    }
  });

  it("decodes a character that came in two pieces", () => {
    expect(captured(100, bytes("x😀y"), 1).text).toBe("x😀y");
  });

  it("keeps nothing with a limit of 0, and still counts", () => {
    expect(captured(0, bytes("abc"), 1)).toMatchObject({ totalBytes: 3, truncated: true });
  });

  it("gives snapshots that later output does not change", () => {
    const capture = new OutputCapture(4);
    capture.add(bytes("abcd"));
    const before = capture.snapshot();
    capture.add(bytes("efgh"));
    expect(before.text).toBe("abcd");
  });
});
