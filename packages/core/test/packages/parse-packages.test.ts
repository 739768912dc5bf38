import { expect, it } from "vitest";
import { packageLanguageOf, parsePackages, parsePythonPackages } from "../../src/packages/parse-packages.js";

it("entries go to the installer that they name, or to that of the template's language", () => {
  const entries = [" requests[socks]>=2,<3 ", "npm:@scope/name@^1.2", "pip:numpy"];
  expect(parsePackages("box", entries)).toEqual({
    python: ["requests[socks]>=2,<3", "numpy"],
    node: ["@scope/name@^1.2"],
  });
  expect(parsePackages("box", ["zod@>=3 <5", "left-pad"], "node")).toEqual({
    python: [],
    node: ["zod@>=3 <5", "left-pad"],
  });
  expect(["node", "node-22", "typescript", "nodes", "python", undefined].map(packageLanguageOf)).toEqual([
    "node",
    "node",
    "node",
    "python",
    "python",
    "python",
  ]);
});

it.each([
  "== 1.0",
  "-r/etc/passwd",
  "a @ https://host/a.whl",
  "git+https://host/a",
  "a\nb",
  "",
  "npm:",
  "npm:-g",
  "npm:./folder",
  "npm:alias@npm:other@1",
  "npm:a@https://host/a.tgz",
  "npm:github/repo",
  "npm:a b",
])("%j is no package", (entry) => {
  expect(() => parsePackages("box", [entry])).toThrow(
    expect.objectContaining({ code: "INVALID", message: expect.stringContaining(JSON.stringify(entry)) }),
  );
});

it("where only Python's can be installed, those of npm are refused by name", () => {
  expect(parsePythonPackages("cloud", ["pip:numpy", "six"])).toEqual(["numpy", "six"]);
  expect(() => parsePythonPackages("cloud", ["six", "npm:zod"])).toThrow(
    expect.objectContaining({ code: "UNSUPPORTED", message: expect.stringContaining('"npm:zod"') }),
  );
});
