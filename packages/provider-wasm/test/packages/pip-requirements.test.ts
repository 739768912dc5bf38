import { describe, expect, it } from "vitest";
import { collectRequirements } from "../../src/packages/pip-requirements.js";

const read = (text: string, others: Readonly<Record<string, string>> = {}) =>
  collectRequirements([], ["/r.txt"], async (path) => (path === "/r.txt" ? text : (others[path] ?? "")));

describe("a file of requirements", () => {
  it("has comments, lines that go on, and other files", async () => {
    const text = "\ufeff# all\r\nleaf>=1, \\\r\n  <2 # why\n\ntree#1\n-r=sub/a.txt\n--requirement  /b.txt\n";
    const files = { "/sub/a.txt": "a", "/b.txt": "b # -r c" };
    expect(await read(text, files)).toEqual(["leaf>=1,   <2", "tree#1", "a", "b"]);
  });

  it("names no option but -r, and no file by an empty name", async () => {
    await expect(read("--pre\n")).rejects.toThrow("/r.txt: --pre: no options but -r here");
    await expect(read("-r =\n")).rejects.toThrow("/r.txt: -r =: no options but -r here");
    await expect(read("leaf --pre\n")).rejects.toThrow("no options but -r here");
  });

  // Of these an expression that tries each place anew takes hours.
  const half = 500_000;
  it.each([
    ["comments before a carriage return", `${" #".repeat(half)}\rx`, []],
    ["comments before a line separator", `${" #".repeat(half)}\u2028x`, []],
    ["a comment of spaces", `leaf #${" ".repeat(2 * half)}\rx`, ["leaf"]],
    ["lines that go on and do not", `leaf${"\\\r".repeat(2000)}`, [`leaf${"\\\r".repeat(2000)}`.trim()]],
  ])("is read in time that grows with its length: %s", async (_, text, found) => {
    expect(await read(text)).toEqual(found);
  });

  it.each([
    ["a file behind signs", `-r${"=".repeat(2 * half)}\rx`],
    ["spaces", `a${" ".repeat(2 * half)}\rx`],
    ["letters", "a".repeat(2 * half)],
    ["lines that go on", `a${"\\\r".repeat(half)}`],
  ])("has no line that is too long: %s", async (_, text) => {
    await expect(read(text)).rejects.toThrow(/^\/r\.txt: .{50,110}: a line is longer than 10000 characters$/s);
  });
});
