import { describe, expect, it } from "vitest";
import { placeFiles } from "../../src/packages/wheel-layout.js";
import { listZip, readZip } from "../../src/packages/zip.js";
import { makeWheel } from "./make-wheel.js";
import { makeZip, type ZipFile } from "./make-zip.js";

const plain: ZipFile = { name: "a.py", content: "1" };

describe("archives", () => {
  it("give back what was put in", () => {
    const bytes = makeZip([
      plain,
      { name: "p/ü b.txt", content: "x".repeat(100_000), mode: 0o100755 },
      { name: "p/", content: "", mode: 0o040755 },
    ]);
    const entries = listZip(bytes);
    expect(entries.map(({ name, size, isExecutable }) => [name, size, isExecutable])).toEqual([
      ["a.py", 1, false],
      ["p/ü b.txt", 100_000, true],
    ]);
    expect(entries.map((entry) => readZip(bytes, entry).length)).toEqual([1, 100_000]);
  });

  const outside = [
    "../a",
    "a/../../b",
    "/etc/passwd",
    "a//b",
    "./a",
    "a/./b",
    "..",
    "C:/a",
    "a\\b",
    "a\0b",
    "a\nb",
    "",
    "x".repeat(300),
  ];
  it.each(outside)("with the name %j are refused", (name) => {
    expect(() => listZip(makeZip([plain, { name, content: "x" }]))).toThrow(/holds the name/);
  });

  it.each([
    ["links", [{ name: "link", content: "/etc/passwd", mode: 0o120777 }], /is a link/],
    ["devices", [{ name: "device", content: "", mode: 0o020666 }], /no file/],
    ["names that come twice", [plain, plain], /twice/],
    ["encryption", [{ ...plain, flags: 1 }], /encrypted/],
  ] as const)("with %s are refused", (_, files, message) => {
    expect(() => listZip(makeZip(files))).toThrow(message);
  });

  it("that unpack to more than they announce are refused, and take no more memory than that", () => {
    const bytes = makeZip([{ name: "bomb", content: Buffer.alloc(200_000_000), claimedSize: 10 }]);
    const [entry] = listZip(bytes);
    const before = process.memoryUsage().arrayBuffers;
    expect(() => entry && readZip(bytes, entry)).toThrow(/damaged/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
  });

  it("that are damaged anywhere are refused, and nothing else happens", () => {
    const whole = makeWheel("damaged", "1.0").bytes;
    const read = (bytes: Buffer) =>
      placeFiles({ kind: "wheel", name: "damaged", version: "1.0", bytes }).map((file) => [file.path, file.read()]);
    const sound = read(whole);
    let refused = 0;
    for (let at = 0; at < whole.length; at += 1) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 0xff;
      try {
        // Times and the like: what matters is the same.
        expect(read(bytes), `byte ${at}`).toEqual(sound);
      } catch (error) {
        expect(error, `byte ${at}`).toMatchObject({ name: "BadArchive" });
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(whole.length / 2);
    for (let length = 0; length < whole.length; length += 7) {
      expect(() => listZip(whole.subarray(0, length)), `${length} bytes`).toThrow(/zip archive|contents/);
    }
  });
});

describe("wheels", () => {
  const placesOf = (files: readonly ZipFile[]) =>
    placeFiles({ kind: "wheel", name: "a", version: "1.0", bytes: makeWheel("a", "1.0", { files }).bytes });

  it("go to their places, by the kinds of their data", () => {
    const placed = placesOf([
      { name: "a/__init__.py", content: "" },
      { name: "a-1.0.data/purelib/pure.py", content: "" },
      { name: "a-1.0.data/scripts/tool", content: "#!python\nprint(1)\n" },
      { name: "a-1.0.data/data/share/a.txt", content: "" },
      { name: "a-1.0.data/headers/a.h", content: "" },
      {
        name: "a-1.0.dist-info/entry_points.txt",
        content: "[console_scripts]\nrun-a = a.cli:main.run\n[other]\nx = y:z\n",
      },
    ]);
    const byPath = new Map(placed.map((file) => [file.path, file]));
    const site = "/usr/local/lib/python3.14/site-packages";
    for (const path of [
      `${site}/a/__init__.py`,
      `${site}/pure.py`,
      "/usr/local/share/a.txt",
      "/usr/local/include/python3.14/a/a.h",
    ]) {
      expect(byPath.has(path), path).toBe(true);
    }
    const tool = byPath.get("/usr/local/bin/tool");
    expect([tool?.mode, Buffer.from(tool?.read() ?? []).toString()]).toEqual([0o755, "#!/usr/bin/python3\nprint(1)\n"]);
    expect(Buffer.from(byPath.get("/usr/local/bin/run-a")?.read() ?? []).toString()).toContain(
      "from a.cli import main",
    );
    expect(byPath.has("/usr/local/bin/x")).toBe(false);
  });

  it("of another name, of none, or with data of no known kind are refused", () => {
    const { bytes } = makeWheel("b", "1.0");
    expect(() => placeFiles({ kind: "wheel", name: "a", version: "1.0", bytes })).toThrow(/another package/);
    expect(() => placeFiles({ kind: "wheel", name: "b", version: "2.0", bytes })).toThrow(/another package/);
    expect(() => placeFiles({ kind: "wheel", name: "a", version: "1.0", bytes: makeZip([plain]) })).toThrow(/no wheel/);
    expect(() => placesOf([{ name: "a-1.0.data/secret/x", content: "" }])).toThrow(/unknown kind/);
    expect(() => placesOf([plain, { name: "a-1.0.data/purelib/a.py", content: "" }])).toThrow(/two files/);
  });
});
