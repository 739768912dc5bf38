import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connection, recordOf, textOf } from "./support/connect.js";
import { connectWasm } from "./support/connect-wasm.js";

type Result = Awaited<ReturnType<Connection["call"]>>;

const linksOf = ({ content }: Result) => content.flatMap((block) => (block.type === "resource_link" ? [block] : []));

describe("results of cells and commands", () => {
  let server: Connection;
  let wheels: string;
  beforeAll(async () => {
    wheels = await mkdtemp(join(tmpdir(), "sandkit-wheels-"));
    for (const name of ["one", "two"]) await makeWheel(name, wheels);
    server = await connectWasm({
      outputChars: 3_000,
      options: { packages: { wheelDir: wheels, indexUrl: false, packageBaseUrl: "http://127.0.0.1:9/" } },
    });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await rm(wheels, { recursive: true });
  });
  const run = (code: string, more: Record<string, unknown> = {}) => server.call("run_code", { code, ...more });
  const bytesAt = async (uri: string) => {
    const [content] = (await server.client.readResource({ uri })).contents;
    return content && "blob" in content ? Buffer.from(content.blob, "base64") : Buffer.from(String(content?.text));
  };

  it("show what a terminal shows of colours and progress bars", async () => {
    const result = await run(
      "import sys\nfor n in range(101): sys.stderr.write(f'\\r\\x1b[32m{n:3}%\\x1b[0m|' + '#' * (n // 10))\nprint('\\x1b[1mdone\\x1b[0m')",
    );
    expect(textOf(result)).toMatch(/\n\n\[stdout\]\ndone\n\[stderr\]\n100%\|##########$/);
    expect(recordOf(result)).toMatchObject({ truncated: false, bytes: { stdout: 13, stderr: expect.any(Number) } });
  });

  it("are worked on at their two ends where they are far too long, with all of it in a file", async () => {
    const result = await run(
      "import sys\nprint('first'); sys.stdout.write('\\x1b[A\\x1b[2Kup' * 40_000); print('\\nlast')",
    );
    expect(textOf(result)).toMatch(
      /\n\nup?\n+\[\.\.\. \d+ characters left out \.\.\.\]\n+up\n+last\n\[stdout in full\] \S+\.txt \(360 kB\)/,
    );
    expect(await bytesAt(linksOf(result)[0]?.uri ?? "")).toHaveLength(360_012);
  });

  it("cut JSON as JSON, with all of it in a file", async () => {
    const result = await run("import json\nprint(json.dumps([{'id': n, 'tags': ['a', 'b']} for n in range(3000)]))");
    const json = /\n\n(\[.*\])\n\[\.\.\. JSON of 101 kB/.exec(textOf(result))?.[1] ?? "";
    expect(JSON.parse(json)[0]).toEqual({ id: 0, tags: ["a", "b"] });
    expect(JSON.parse(json).at(-1)).toEqual({ id: 2_999, tags: ["a", "b"] });
    expect(JSON.parse(String(await bytesAt(linksOf(result)[0]?.uri ?? "")))).toHaveLength(3_000);
  });

  it("turn base64 into files, and bytes into a sentence", async () => {
    const result = await run(
      "import base64, random, sys\ndata = bytes([0x89, 0x50, 0x4E, 0x47]) + random.Random(1).randbytes(5000)\nprint('image:', base64.b64encode(data).decode())\nsys.stdout.flush()\nsys.stderr.buffer.write(bytes(range(256)) * 40)\nsys.stderr.flush()",
    );
    expect(textOf(await run("base64.b64encode(data).decode()"))).toMatch(/\[value\]\n'\[data 1: base64 of image\/png/);
    expect(textOf(result)).toMatch(/\nimage: \[data 1: base64 of image\/png, 5\.00 kB; its file is named below\]\n/);
    expect(textOf(result)).toMatch(/\[stderr\]\n\(binary, 10\.2 kB\)/);
    expect(textOf(result)).toMatch(/\[data 1\] \S+\.data-1\.png \(5\.00 kB\)$/m);
    const links = linksOf(result);
    expect(links).toMatchObject([{ name: expect.stringContaining("stderr.bin") }, { mimeType: "image/png" }]);
    const [stderr, image] = await Promise.all(links.map(({ uri }) => bytesAt(uri)));
    expect(stderr).toEqual(Buffer.alloc(10_240, Buffer.from(Array.from({ length: 256 }, (_, n) => n))));
    expect(image?.subarray(0, 4)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47]));
    expect(image).toHaveLength(5_004);
  });

  it("show pictures of all kinds in the form that clients take", async () => {
    const result = await run(`
svg = "<svg xmlns='http://www.w3.org/2000/svg'><circle r='4'/></svg>"
plot = {"data": [{"type": "bar", "name": "sales", "y": [1, 2]}, {"y": [3]}], "layout": {"title": {"text": "Year"}}}
display({"image/jpeg": "/9j/2wBD", "text/plain": "<photo>"}, raw=True)
display({"image/svg+xml": svg, "text/plain": "<drawing>"}, raw=True)
display({"application/vnd.plotly.v1+json": plot, "text/html": "<div>" + "x" * 9000, "text/plain": "Figure()"}, raw=True)
display({"text/html": "<b>bold</b>"}, raw=True)`);
    expect(result.content.filter(({ type }) => type === "image")).toEqual([
      { type: "image", data: "/9j/2wBD", mimeType: "image/jpeg" },
    ]);
    const text = textOf(result);
    expect(text).toMatch(/\[figure 1: image\/svg\+xml, 61 bytes; its file is named below\]\n<svg/);
    expect(text).toContain('[figure 2: plotly figure "Year" (bar "sales", scatter), as JSON, ');
    expect(text).toContain("<b>bold</b>");
    expect(text).not.toContain("xxxx");
    const links = linksOf(result);
    expect(links.map(({ mimeType }) => mimeType)).toEqual(["image/svg+xml", "application/vnd.plotly.v1+json"]);
    expect(JSON.parse(String(await bytesAt(links[1]?.uri ?? "")))).toMatchObject({
      layout: { title: { text: "Year" } },
    });
    expect(recordOf(result).files).toHaveLength(2);
    expect(result.structuredContent).toBeUndefined();
  });

  it("install packages first, once, and tell what cannot be had apart from what the code does", async () => {
    const first = await run("import one; one.NAME", { packages: ["one"] });
    expect(textOf(first)).toContain("'one'");
    const again = await run("import one, two; two.NAME", { packages: ["one", "two==1.*"] });
    expect(textOf(again)).toContain("'two'");
    const missing = await run("print('ran')", { packages: ["two>5"] });
    expect(missing.isError).toBe(true);
    expect(textOf(missing)).toMatch(
      /^INVALID: packages two>5 could not be installed, so nothing ran \(pip: .*two.*\): correct.*create_sandbox/s,
    );
    const option = await run("1", { packages: ["--index-url=http://x"] });
    expect(textOf(option)).toMatch(/^INVALID: run_code: packages: 0: must be a name/);
    const other = await run("1", { packages: ["one"], language: "javascript" });
    expect(textOf(other)).toMatch(/^INVALID: run_code: packages are those of Python/);
    const made = await server.call("create_sandbox", { packages: ["two"] });
    const { sandbox_id: sandbox } = made.structuredContent as { sandbox_id: string };
    expect(textOf(await run("import two; two.NAME", { sandbox_id: sandbox, packages: ["two"] }))).toContain("'two'");
  });
});

/** A wheel is a zip archive: Python's own module makes it. */
async function makeWheel(name: string, folder: string): Promise<void> {
  const program = `
import sys, zipfile
name, folder = sys.argv[1:]
with zipfile.ZipFile(f"{folder}/{name}-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr(f"{name}.py", f"NAME = {name!r}")
    wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Name: {name}\\nVersion: 1.0\\n")
`;
  await promisify(execFile)("python3", ["-c", program, name, folder]);
}
