import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connection, recordOf, textOf } from "./support/connect.js";
import { connectWasm } from "./support/connect-wasm.js";

// One red pixel.
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const picture = `
import base64
class Picture:
    def __init__(self, padding=0):
        self.padding = padding
    def _repr_png_(self):
        return base64.b64decode("${png}") + bytes(self.padding)
`;

describe("run_code on WebAssembly", () => {
  let server: Connection;
  beforeAll(async () => {
    server = await connectWasm({ maxImages: 2, maxImageBytes: 1_000, outputChars: 5_000 });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const run = (code: string, more: Record<string, unknown> = {}) => server.call("run_code", { code, ...more });

  it("shows stdout and the last value, and keeps variables", async () => {
    const first = await run("x = 41\nprint('hi')\nx + 1");
    expect(textOf(first)).toMatch(/^Exited with code 0 after .+\n\n\[stdout\]\nhi\n\[value\]\n42$/);
    expect(recordOf(first)).toMatchObject({ exitCode: 0, reason: "exited", stateLost: false });
    expect(textOf(await run("x"))).toMatch(/\[value\]\n41$/);
    expect(textOf(await run("y = x"))).toContain("(no output)");
  });

  it("treats an exception as an ordinary answer with the traceback", async () => {
    const result = await run("def f():\n    return 1 / 0\nprint('before')\nf()");
    expect(result.isError).toBeFalsy();
    expect(textOf(result)).toMatch(
      /^Raised ZeroDivisionError \(exit code 1\).*\nbefore\n\[error\]\nTraceback.*division by zero$/s,
    );
    expect(recordOf(result)).toMatchObject({ exitCode: 1, error: "ZeroDivisionError" });
    expect(textOf(await run("import sys; sys.exit(3)"))).toMatch(/^Exited with code 3/);
  });

  it("treats a timeout as an ordinary answer and says what became of the variables", async () => {
    await run("kept = 'here'");
    const result = await run("print('begun')\nwhile True: pass", { timeout: 1 });
    expect(result.isError).toBeFalsy();
    expect(textOf(result)).toMatch(
      /^Stopped at the time limit of 1 s.*Variables of earlier cells are kept\.\n\n.*begun/s,
    );
    expect(recordOf(result)).toMatchObject({ exitCode: null, reason: "timeout", stateLost: false });
    expect(textOf(await run("kept"))).toContain("here");
  });

  it("shows figures as images, never as text", async () => {
    const result = await run(`${picture}\nprint('drawn')\nPicture()`);
    expect(result.content).toEqual([
      { type: "text", text: expect.stringMatching(/\n\ndrawn$/) },
      { type: "image", data: png, mimeType: "image/png" },
    ]);
    expect(result.structuredContent).toBeUndefined();
  });

  it("keeps images within number and size, and says so", async () => {
    const many = await run(`${picture}\nfor _ in range(4): display(Picture())`);
    expect(many.content.filter(({ type }) => type === "image")).toHaveLength(2);
    expect(textOf(many)).toContain("not shown: 2 images are shown in one result");
    const large = await run(`${picture}\nPicture(5_000)`);
    expect(large.content).toMatchObject([
      { type: "text" },
      { type: "resource_link", name: expect.stringMatching(/figure-1\.png$/), size: 5_070 },
    ]);
    expect(textOf(large)).toMatch(/image\/png of 5\.\d\d kB, above the 1\.00 kB that are shown: make it smaller/);
  });

  it("keeps a flood of output within the budget", async () => {
    const result = await run("print('first')\nfor _ in range(200): print('x' * 100_000)\nprint('last')");
    expect(textOf(result).length).toBeLessThan(6_000);
    expect(textOf(result)).toMatch(/first\n.*left out here.*\nlast\n\[stdout, head and tail\]/s);
    expect(recordOf(result).truncated).toBe(true);
  });

  it("keeps a flood of displays within bounds, the value included", async () => {
    const result = await run("for n in range(20_000): display(n)\n'the value'");
    expect(textOf(result).length).toBeLessThan(6_000);
    expect(textOf(result)).toMatch(
      /\[output\]\n48\n\[output\]\n\(19951 more displays are not shown\)\n\[value\]\n'the value'$/,
    );
  });

  it("queues cells in one sandbox while other tools answer", async () => {
    await run("order = []");
    const done: string[] = [];
    await Promise.all([
      run("import time; time.sleep(2); order.append('slow')").then(() => done.push("slow")),
      run("order.append('quick')").then(() => done.push("quick")),
      server.call("write_file", { path: "note", content: "text" }).then(() => done.push("write")),
      server.call("list_sandboxes").then(() => done.push("list")),
    ]);
    expect(done.slice(2)).toEqual(["slow", "quick"]);
    expect(textOf(await run("order"))).toContain("['slow', 'quick']");
    expect(textOf(await run("open('note').read()"))).toContain("'text'");
  });

  it("names the languages that are there", async () => {
    expect(textOf(await run("[1, 2].map((n: number) => n * 2)", { language: "typescript" }))).toContain("[ 2, 4 ]");
    expect(textOf(await run("seq 3 | tail -1", { language: "shell" }))).toContain("3");
    const result = await run("1", { language: "ruby" });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^INVALID: run_code: language: .*"python"/);
    expect(textOf(await run(" "))).toMatch(/^INVALID: .*code is empty/);
  });

  it("runs programs and command lines by exec", async () => {
    await server.call("write_file", { path: "program.py", content: "import sys\nprint(sys.argv[1:], input())\n" });
    const result = await server.call("exec", { command: "python3 program.py 'a b' c", stdin: "in\n" });
    expect(textOf(result)).toContain("['a b', 'c'] in");
    const piped = await server.call("exec", { command: "echo in | python3 program.py c | tr a-z A-Z" });
    expect(textOf(piped)).toContain("['C'] IN");
  });
});
