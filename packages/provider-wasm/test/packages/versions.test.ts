import { describe, expect, it } from "vitest";
import { parseMarker, wasmEnvironment } from "../../src/packages/marker.js";
import { appliesTo, parseRequirement } from "../../src/packages/requirement.js";
import { parseSpecifiers, satisfies } from "../../src/packages/specifier.js";
import { compareVersions, parseVersion, type Version } from "../../src/packages/version.js";
import { parseMetadata, readWheelMetadata } from "../../src/packages/wheel-metadata.js";
import { parseWheelName, wheelFit } from "../../src/packages/wheel-name.js";
import { listZip } from "../../src/packages/zip.js";
import { makeWheel } from "./make-wheel.js";

const version = (text: string): Version => {
  const parsed = parseVersion(text);
  if (!parsed) throw new Error(`${text} is no version`);
  return parsed;
};
const accepts = (condition: string, text: string) => satisfies(version(text), parseSpecifiers(condition));

describe("versions", () => {
  // In the order of PEP 440.
  const ordered = [
    ...["1.dev0", "1.0.dev456", "1.0a1", "1.0a2.dev456", "1.0a12.dev456", "1.0a12", "1.0b1.dev456", "1.0b2"],
    ...["1.0b2.post345.dev456", "1.0b2.post345", "1.0rc1.dev456", "1.0rc1", "1.0", "1.0+abc.5", "1.0+abc.7", "1.0+5"],
    ...["1.0.post456.dev34", "1.0.post456", "1.0.15", "1.1.dev1", "1.1", "10.0", "1!0.1"],
  ];

  it("are ordered as PEP 440 orders them, however they are written", () => {
    const shuffled = ordered.toReversed().map(version).sort(compareVersions);
    expect(shuffled.map(({ text }) => text)).toEqual(ordered);
    for (const [a, b] of [
      ["1.0", "1.0.0"],
      ["v1.0-RC.1", "1.0rc1"],
      ["1.0-alpha", "1.0a0"],
      ["1.0-1", "1.0.post1"],
      ["1.0.rev2", "1.0.post2"],
    ] as const) {
      expect(compareVersions(version(a), version(b)), `${a} and ${b}`).toBe(0);
    }
  });

  it("are nothing else", () => {
    const others = ["", "one", "1.", "1..0", "1.0x", "1.0+", "1.0+a+b", "==1", "9".repeat(300)];
    expect(others.filter((text) => parseVersion(text))).toEqual([]);
  });
});

describe("conditions on versions", () => {
  it.each([
    ["==1.1", ["1.1", "1.1.0", "1.1+local"], ["1.1a1", "1.1.post1", "1.2"]],
    ["==1.1.*", ["1.1", "1.1.9", "1.1a1", "1.1.post1"], ["1.2", "1.10"]],
    ["!=1.1.*", ["1.2"], ["1.1.3"]],
    ["==1.1+a", ["1.1+a"], ["1.1", "1.1+b"]],
    ["~=2.2", ["2.2", "2.9", "2.2.post3"], ["2.1", "3.0"]],
    ["~=1.4.5", ["1.4.5", "1.4.9"], ["1.5", "1.4.4"]],
    [">1.7", ["1.7.1", "1.8"], ["1.7", "1.7.post1", "1.7+local", "1.7.0.post1"]],
    [">1.7.post2", ["1.7.post3", "1.7.1"], ["1.7.post2"]],
    ["<1.7", ["1.6"], ["1.7", "1.7a1", "1.7.dev0"]],
    ["<1.7rc1", ["1.7a1"], ["1.7rc1"]],
    ["<=1.7", ["1.7", "1.7+local", "1.7rc1"], ["1.7.1"]],
    [">=1, <2,!=1.5", ["1", "1.6"], ["1.5", "2"]],
    ["===1.0-special", [], ["1.0"]],
  ])("%s", (condition, yes, no) => {
    expect(yes.filter((text) => !accepts(condition, text))).toEqual([]);
    expect(no.filter((text) => accepts(condition, text))).toEqual([]);
  });

  it.each([
    ...["~=1", ">=1.*", "=1", "1.0", "==one", "== ", "==1.1a1.*", "==1.0.post1.*", "!=1.0.dev1.*", "==1.0+x.*"],
    ...[">=1.0+local", "<=1.0+local", ">1.0+local", "<1.0+local", "~=1.0+local"],
  ])("refuses %s", (condition) => {
    expect(() => parseSpecifiers(condition)).toThrow(SyntaxError);
  });
});

describe("markers", () => {
  const here = wasmEnvironment("3.14.2");

  it.each([
    ['python_version >= "3.9"', true],
    ["python_version < '3.10'", false],
    ['python_full_version == "3.14.*"', true],
    ['"3.9" <= python_version', true],
    ['sys_platform == "emscripten" and platform_machine != "x86_64"', true],
    ['sys_platform == "win32" or (os_name == "posix" and implementation_name == "cpython")', true],
    ['sys_platform == "linux" and os_name == "posix" or platform_system == "Emscripten"', true],
    ['"emscripten" in sys_platform', true],
    ['sys_platform not in "linux darwin"', true],
    ["python_version ~= '3.5'", true],
    ["os.name == 'nt'", false],
    ['extra == "socks"', false],
    ['python_version >= "3.*"', true],
    ['python_version == "one"', false],
  ])("%s is %s", (marker, expected) => {
    expect(parseMarker(marker)(here)).toBe(expected);
  });

  it.each([
    "",
    "python_version",
    "python_version >=",
    "nonsense == '1'",
    "(os_name == 'posix'",
    "os_name == 'a' b",
    "'",
    "python_version ~= '3'",
    "os_name ~= '3.1'",
  ])("refuses %j", (marker) => {
    expect(() => parseMarker(marker)(here)).toThrow(SyntaxError);
  });

  it("refuse to go too deep", () => {
    expect(() => parseMarker(`${"(".repeat(5000)}os_name=='posix'${")".repeat(5000)}`)).toThrow(SyntaxError);
  });
});

describe("requirements", () => {
  it("are read with extras, conditions and a marker", () => {
    const found = parseRequirement(' Foo.Bar_baz [Socks, dev_x] (>=2,<3) ; python_version > "3" and extra == "Dev-X"');
    expect([found.name, found.extras]).toEqual(["foo-bar-baz", ["socks", "dev-x"]]);
    expect(found.specifiers.map(({ text }) => text)).toEqual([">=2", "<3"]);
    expect([
      appliesTo(found, wasmEnvironment("3.14.2")),
      appliesTo(found, wasmEnvironment("3.14.2"), ["dev-x"]),
    ]).toEqual([false, true]);
    expect(parseRequirement("foo>=1;").marker).toBeUndefined();
    expect(parseRequirement("a @ https://example.com/a.whl ; extra == 'x'").isAddress).toBe(true);
  });

  it.each(["", "-x", "a b", "a >> 1", "a==", "../a", "a[b", "é"])("refuses %j", (text) => {
    expect(() => parseRequirement(text)).toThrow(SyntaxError);
  });
});

describe("a wheel's own word", () => {
  it("may write its version in another way than its name does", () => {
    const { bytes } = makeWheel("foo", "1.0", { requires: ["bar"] });
    expect(readWheelMetadata(bytes, "foo", "1.0.0").requires.map(({ name }) => name)).toEqual(["bar"]);
    expect(() => readWheelMetadata(bytes, "foo", "1.0.1")).toThrow(/another package/);
  });

  it("is read as people write it, and no longer than anybody needs", () => {
    const text =
      "Name: foo\r\nrequires-dist:  bar\r\n  >=1\r\nRequires-Python: >=3\nx\nProvides-Extra: A_b\n\nName: x\n";
    const { requires, python, extras } = parseMetadata(text);
    expect([requires.map((each) => each.text), python.length, extras]).toEqual([["bar >=1"], 1, ["a-b"]]);
    expect(() => parseMetadata(`Requires-Python: ${">=3,".repeat(500_000)}\n\n`)).toThrow("too long a condition");
    expect(() => parseMetadata(`Requires-Dist: foo ${"x".repeat(1000)}\n\n`)).toThrow(/^.{1,250}$/);
  });
});

it("wheels of many files take little longer to read than to list", () => {
  const files = Array.from({ length: 10_000 }, (_, number) => ({ name: `many/${number}.py`, content: "" }));
  const { bytes } = makeWheel("many", "1.0", { files });
  const started = performance.now();
  listZip(bytes);
  const listed = performance.now();
  expect(readWheelMetadata(bytes, "many", "1.0").requires).toEqual([]);
  expect(performance.now() - listed).toBeLessThan(500 + 20 * (listed - started));
}, 60_000);

describe("names of wheels", () => {
  const target = { python: "3.14.2", platform: "pyemscripten_2026_0_wasm32" };
  const fit = (filename: string) => (parseWheelName(filename) ? wheelFit(filename, target) : -1);

  it("tell what fits, and what fits best", () => {
    const compiled = fit("numpy-2.4.6-cp314-cp314-pyemscripten_2026_0_wasm32.whl");
    expect(compiled).toBeGreaterThan(fit("numpy-2.4.6-cp311-abi3-pyemscripten_2026_0_wasm32.whl"));
    expect(fit("numpy-2.4.6-cp311-abi3-pyemscripten_2026_0_wasm32.whl")).toBeGreaterThan(fit("a-1-py3-none-any.whl"));
    expect(fit("a-1-py2.py3-none-any.whl")).toBeGreaterThan(0);
    expect(fit("a-1-1-py310-none-any.whl")).toBeGreaterThan(0);
    const unfit = [
      "cp313-cp313-pyemscripten_2026_0_wasm32",
      "cp314-cp314-manylinux_2_17_x86_64",
      "py2-none-any",
      "py315-none-any",
    ];
    expect(unfit.map((tag) => fit(`a-1-${tag}.whl`))).toEqual([0, 0, 0, 0]);
    expect(["a-1.tar.gz", "a-1.whl", "a-x-py3-none-any.whl", "../a-1-py3-none-any.whl"].map(fit)).toEqual([
      -1, -1, -1, -1,
    ]);
  });

  it("are as long as file systems have them, and never multiplied", () => {
    const many = Array.from({ length: 30 }, () => "x").join(".");
    expect(fit(`a-1-${many}.py3-${many}.none-${many}.any.whl`)).toBe(fit("a-1-py3-none-any.whl"));
    const long = Array.from({ length: 100 }, () => "py3").join(".");
    expect(fit(`a-1-${long}-none-any.whl`)).toBe(-1);
    const longest = Array.from({ length: 700 }, () => "a").join(".");
    expect(fit(`a-1-${longest}-${longest}-${longest}.whl`)).toBe(-1);
  });

  it("tell name, version and build", () => {
    expect(parseWheelName("Foo_Bar-1.0_1-2b-py3-none-any.whl")).toMatchObject({ name: "foo-bar", build: 2 });
  });
});
