import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connection, connect, textOf } from "./support/connect.js";

// One red pixel.
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

describe("read_file and write_file", () => {
  let server: Connection;
  beforeAll(async () => {
    server = await connect({ outputChars: 2_000, maxImageBytes: 5_000 });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const read = async (input: Record<string, unknown>) => textOf(await server.call("read_file", input));

  it("gives back what was written, parents made", async () => {
    const written = await server.call("write_file", { path: "a/b/c.txt", content: "one\ntwo ünï 🙂\nthree\n" });
    expect(textOf(written)).toBe("Wrote 25 bytes to a/b/c.txt.");
    expect(await read({ path: "a/b/c.txt" })).toBe("a/b/c.txt (lines 1-3 of 3)\none\ntwo ünï 🙂\nthree");
  });

  it("reads a range of lines and says where to go on", async () => {
    await server.call("write_file", {
      path: "many",
      content: Array.from({ length: 50 }, (_, n) => `line ${n + 1}`).join("\n"),
    });
    expect(await read({ path: "many", offset: 10, limit: 2 })).toBe(
      "many (lines 10-11; for more: offset 12)\nline 10\nline 11",
    );
    expect(await read({ path: "many", offset: 49 })).toBe("many (lines 49-50 of 50)\nline 49\nline 50");
    expect(await read({ path: "many", offset: 51 })).toContain("(has 50 lines: offset 51 is past the end)");
  });

  it("stays within the budget on a huge file and an endless line", async () => {
    await server.call("exec", { command: "yes 0123456789 | head -c 50000000 > big; tr -d '\\n' < big > long" });
    for (const path of ["big", "long"]) {
      const text = await read({ path });
      expect(text.length).toBeLessThan(2_300);
      expect(text).toContain("cut within line");
    }
  });

  it("tells an empty file", async () => {
    await server.call("write_file", { path: "empty", content: "" });
    expect(await read({ path: "empty" })).toContain("(empty file)");
  });

  it("lists a directory", async () => {
    await server.call("exec", { command: "mkdir -p dir/sub; printf 12345 > dir/file; ln -s file dir/link" });
    expect(await read({ path: "dir" })).toBe("dir (directory, 3 entries)\nfile  5 bytes\nlink -> file\nsub/");
  });

  it("shows an image as an image", async () => {
    await server.call("exec", { command: `echo ${png} | base64 -d > dot` });
    const result = await server.call("read_file", { path: "dot" });
    expect(result.content.at(-1)).toEqual({ type: "image", data: png, mimeType: "image/png" });
    expect(textOf(result)).toMatch(/^dot \(image\/png, \d\d bytes\)/);
  });

  it("says of an image that is too large what to do", async () => {
    await server.call("exec", { command: `(echo ${png} | base64 -d; head -c 10000 /dev/zero) > large` });
    const result = await server.call("read_file", { path: "large" });
    expect(result.content).toMatchObject([{ type: "text" }, { type: "resource_link", name: "large", size: 10_070 }]);
    expect(textOf(result)).toMatch(/above the 5\.00 kB that are shown: make it smaller/);
  });

  it("describes a binary file, whether by NUL or by invalid UTF-8 far inside", async () => {
    await server.call("exec", { command: "printf 'ab\\0cd' > nul; (yes | head -c 20000; printf '\\377') > late" });
    expect(await read({ path: "nul" })).toMatch(/nul is a binary file of 5 bytes.*61 62 00 63 64/);
    expect(await read({ path: "late", offset: 9000 })).toMatch(/late is a binary file/);
  });

  it("edits exactly one place", async () => {
    await server.call("write_file", { path: "code.py", content: "a = 1\nb = 2\n" });
    const edited = await server.call("write_file", { path: "code.py", old_text: "b = 2", content: "b = 3" });
    expect(textOf(edited)).toBe("Edited code.py at line 2: 12 bytes now.");
    expect(await read({ path: "code.py" })).toContain("a = 1\nb = 3");
  });

  it("refuses an edit that fits nowhere or in several places, and teaches", async () => {
    await server.call("write_file", { path: "twice", content: "x = 1\ny\nx = 1\n" });
    const twice = await server.call("write_file", { path: "twice", old_text: "x = 1", content: "" });
    expect(twice.isError).toBe(true);
    expect(textOf(twice)).toMatch(/^INVALID: .*stands 2 times in twice \(lines 1, 3\): include more/);
    const never = await server.call("write_file", { path: "twice", old_text: "z", content: "" });
    expect(textOf(never)).toMatch(/^INVALID: .*is not in twice/);
    const spaces = await server.call("write_file", { path: "twice", old_text: "x  =  1", content: "" });
    expect(textOf(spaces)).toContain('it differs only in white space; line 1 is "x = 1"');
    expect(await read({ path: "twice" })).toContain("x = 1\ny\nx = 1");
  });

  it("edits a file of Windows in its own line ends", async () => {
    await server.call("write_file", { path: "windows", content: "a = 1\r\nb = 2\r\nc = 3\r\n" });
    await server.call("write_file", { path: "windows", old_text: "a = 1\nb = 2", content: "a = 5\nb = 6" });
    expect(textOf(await server.call("exec", { command: "od -c windows | head -2" }))).toMatch(
      /5 +\\r +\\n +b +=.*6 +\\r/s,
    );
  });

  it("takes any name for a name", async () => {
    const path = "-n $(id) 'q' \"é\"\nnew";
    await server.call("write_file", { path, content: "here" });
    expect(await read({ path })).toContain("here");
  });
});
