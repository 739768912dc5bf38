import { describe, expect, it } from "vitest";
import { Attachments } from "../src/result/attachments.js";
import { withoutBlobs } from "../src/result/blobs.js";
import { cutJson } from "../src/result/cut-json.js";
import { isBinary, terminalText } from "../src/result/terminal-text.js";
import { joinSections } from "../src/result/text.js";
import { RunLog } from "../src/runs/run-log.js";

describe("terminalText", () => {
  it.each([
    ["colours", "\x1b[1;31mred\x1b[0m plain", "red plain"],
    ["titles and hyperlinks", "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"],
    ["8-bit sequences", "\x9b31mred\x9b0m", "red"],
    ["an escape that is cut", "end\x1b[", "end"],
    ["Windows line ends", "a\r\nb\r\n", "a\nb\n"],
    ["a progress bar", "\r  0%|    |\r 50%|==  |\r100%|====|\ndone", "100%|====|\ndone"],
    ["a shorter last state", "loading...\rok", "okading..."],
    ["a cleared line", "loading...\r\x1b[2Kok", "ok"],
    ["a cleared rest", "loading...\rok\x1b[K", "ok"],
    ["a bar of two lines", "a 1\nb 1\x1b[1A\x1b[2K\ra 2\n\x1b[2Kb 2\nend", "a 2\nb 2\nend"],
    ["backspaces", "1%\b\b2%\b\b3%", "3%"],
    ["a bell and NULs", "a\x07b\0c", "abc"],
    ["tabs and empty lines", "a\tb\n\n c", "a\tb\n\n c"],
  ])("shows %s as a terminal does", (_, text, shown) => {
    expect(terminalText(text)).toBe(shown);
  });

  it("takes time with the length alone", () => {
    for (const piece of ["\r1", "\b", "\x1b[", "\x1b]", "\x1b[1A\r"]) terminalText(piece.repeat(20_000));
  });

  it("tells text from what is none", () => {
    const binary = Buffer.from(Array.from({ length: 500 }, (_, n) => (n * 37) % 256)).toString();
    expect(isBinary(binary)).toBe(true);
    expect(isBinary("grüße 🙂 \x1b[31m\n".repeat(50))).toBe(false);
    expect(isBinary("\ufffd")).toBe(false);
  });
});

describe("withoutBlobs", () => {
  const bytes = Buffer.from(Array.from({ length: 3_000 }, (_, n) => (n * n * 31 + n) % 256));
  const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47]), bytes]);
  const shown = (text: string) => {
    const attachments = new Attachments();
    return { text: withoutBlobs(text, attachments), files: attachments.list };
  };

  it("takes out base64 in a line, in a data URI and over wrapped lines, exactly", () => {
    const plain = shown(`before ${bytes.toString("base64")} after`);
    expect(plain.text).toBe("before [data 1: base64, 3.00 kB; its file is named below] after");
    expect(plain.files).toMatchObject([{ name: "data-1.bin" }]);
    expect(Buffer.from(plain.files[0]?.data ?? [])).toEqual(bytes);
    const uri = shown(`{"image":"data:image/png;base64,${png.toString("base64")}","x":1}`);
    expect(JSON.parse(uri.text)).toMatchObject({ image: expect.stringContaining("base64 of image/png"), x: 1 });
    for (const end of ["\n", "\r\n"]) {
      const wrapped = png.toString("base64").replaceAll(/.{76}/g, `$&${end}`);
      const { text, files } = shown(`-----BEGIN-----${end}${wrapped}${end}-----END-----`);
      expect(text).toMatch(/^-----BEGIN-----\r?\n\[data 1: base64 of image\/png.*\]\r?\n-----END-----$/);
      expect(files).toMatchObject([{ name: "data-1.png" }]);
      expect(Buffer.from(files[0]?.data ?? [])).toEqual(png);
    }
  });

  it("leaves everything else alone", () => {
    const texts = [
      "ACGT".repeat(2_000),
      "x".repeat(5_000),
      Array.from({ length: 2_000 }, (_, n) => `Word${n}`).join("\n"),
      Array.from({ length: 2_000 }, (_, n) => n).join("\n"),
      bytes.toString("base64").slice(0, 900),
      bytes.toString("hex"),
      Array.from({ length: 60 }, (_, n) => bytes.subarray(n, n + 48 + (n % 2)).toString("base64")).join("\n"),
      Array.from({ length: 60 }, (_, n) => bytes.subarray(n, n + 32).toString("base64url")).join("\n"),
      Array.from({ length: 60 }, (_, n) => `sha512-${bytes.subarray(n, n + 64).toString("base64")}`).join("\n"),
    ];
    for (const text of texts) expect(shown(text)).toEqual({ text, files: [] });
  });

  it("takes time with the length alone, and keeps a number of files", () => {
    shown(`${"aB3+".repeat(255)} `.repeat(1_000));
    shown("aB3+aB3+aB3+aB3+aB3+aB3+aB3+aB3+aB3+aB3+aB3+\n".repeat(20_000));
    const many = shown(`${bytes.toString("base64")}\n`.repeat(12));
    expect(many.files).toHaveLength(10);
    expect(many.text).toContain("left out, as there are 10 such files already");
  });
});

describe("cutJson", () => {
  it("stays JSON within the budget and says what is missing", () => {
    const list = JSON.stringify({
      total: 5_000,
      rows: Array.from({ length: 5_000 }, (_, id) => ({ id, name: `n${id}` })),
    });
    const cut = cutJson(list, 2_000) ?? "";
    expect(cut.length).toBeLessThanOrEqual(2_000);
    expect(cut.length).toBeGreaterThan(1_200);
    const { total, rows } = JSON.parse(cut);
    expect(total).toBe(5_000);
    expect(rows[0]).toEqual({ id: 0, name: "n0" });
    expect(rows.at(-1)).toEqual({ id: 4_999, name: "n4999" });
    expect(rows.find((row: unknown) => typeof row === "string")).toMatch(/^… \d+ of 5000 items left out …$/);
  });

  it("shortens texts, keys and depths, and keeps the layout", () => {
    const long = cutJson(JSON.stringify({ text: "🙂".repeat(3_000), n: 1 }, undefined, 2), 500) ?? "";
    expect(long).toMatch(/^\{\n {2}"text": "/);
    expect(JSON.parse(long)).toEqual({ text: expect.stringMatching(/^(?:🙂)+… \(\d+ more characters\)$/u), n: 1 });
    const keys = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`k${n}`, n]));
    expect(JSON.parse(cutJson(JSON.stringify(keys), 300) ?? "")).toMatchObject({
      k0: 0,
      "…": expect.stringMatching(/more keys/),
    });
    const deep = `${"[".repeat(400)}1${"]".repeat(400)}`;
    expect(cutJson(deep, 100)).toMatch(/a list of 1 items/);
    expect(cutJson(`${"[".repeat(200_000)}1${"]".repeat(200_000)}`, 20_000)).toMatch(/a list of 1 items/);
  });

  it("leaves to others what it would change or cannot shorten", () => {
    expect(cutJson('[12345678901234567890, "x"]', 20)).toBeUndefined();
    expect(cutJson('{"pi": 3.14159265358979323846, "x": "y"}', 20)).toBeUndefined();
    const floats = Array.from({ length: 500 }, (_, n) => Math.sqrt(n) / 7);
    expect(JSON.parse(cutJson(JSON.stringify(floats), 300) ?? "").slice(-2)).toEqual(floats.slice(-2));
    expect(cutJson(JSON.stringify(floats.map((n) => ({ id: "1234567890123456", n }))), 300)).toBeDefined();
    expect(cutJson("[INFO] no JSON", 5)).toBeUndefined();
    expect(cutJson('{"a":1}', 2)).toBeUndefined();
    expect(cutJson('"text"', 3)).toBeUndefined();
  });

  it("is what a section that is too long becomes", () => {
    const { text, cut } = joinSections(
      [{ label: "stdout", text: JSON.stringify(Array.from({ length: 2_000 }, (_, n) => n)) }],
      400,
    );
    const [json = "", note] = text.split("\n");
    expect(JSON.parse(json)).toContain(1_999);
    expect(note).toMatch(/^\[\.\.\. JSON of 8\.89 kB, its lists and texts shortened/);
    expect(cut).toEqual(["stdout"]);
  });
});

it("head and tail are whole lines where that costs little", () => {
  const text = Array.from({ length: 500 }, (_, n) => `line ${n}`).join("\n");
  const { text: shown } = joinSections([{ label: "stdout", text }], 400);
  for (const line of shown.split("\n")) expect(line).toMatch(/^(?:line \d+|\[\.\.\. .*)$/);
});

describe("RunLog", () => {
  const add = (log: RunLog, stream: "stdout" | "stderr", text: string) =>
    log.add({ stream, text, bytes: Buffer.from(text) });

  it("is read by cursor, each stream apart", () => {
    const log = new RunLog(1_000);
    add(log, "stdout", "one\n");
    add(log, "stderr", "bad\n");
    add(log, "stdout", "two\n");
    expect(log.read(0)).toEqual({ stdout: "one\ntwo\n", stderr: "bad\n", from: 0, next: 12, missed: 0 });
    expect(log.read(6)).toEqual({ stdout: "two\n", stderr: "d\n", from: 6, next: 12, missed: 0 });
    expect(log.read(99)).toMatchObject({ stdout: "", stderr: "", next: 12 });
    expect(log.lastLine).toBe("two");
    expect(log.text("output")).toBe("one\nbad\ntwo\n");
  });

  it("lets the oldest go and tells how much a reader has missed", () => {
    const log = new RunLog(10);
    for (let n = 0; n < 10; n++) add(log, n % 2 === 0 ? "stdout" : "stderr", `${n}${n}${n}`);
    expect(log.read(0)).toEqual({ stdout: "6888", stderr: "777999", from: 0, next: 30, missed: 20 });
    expect(log.text("output")).toMatch(/^\[\.\.\. 20 characters are gone \.\.\.\]\n/);
    expect(log.held).toBe(10);
    for (let n = 0; n < 200_000; n++) add(log, n % 2 === 0 ? "stdout" : "stderr", "ab");
    expect(log.read(log.end - 4)).toMatchObject({ stdout: "ab", stderr: "ab", missed: 0 });
  });
});
