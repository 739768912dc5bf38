import { readFileSync } from "node:fs";
import { errorCodes, SandboxError } from "@sandkit/core";
import { expect, it } from "vitest";
import { exitCodeOf, exitCodes } from "../src/exit-codes.js";

const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");
const documented = new Map(
  [...page.matchAll(/^\| `([A-Z_]+)` +\|.*\| (\d+)[^|]*\|$/gm)].map(([, code, exit]) => [code, exit]),
);

it("documents every code of an error", () => {
  expect([...documented.keys()]).toEqual([...errorCodes]);
});

it.each(errorCodes)("%s exits as documented, with a code that help explains", (code) => {
  const exit = exitCodeOf(new SandboxError(code, "what failed"));
  expect(String(exit)).toBe(documented.get(code));
  expect(Object.keys(exitCodes)).toContain(String(exit));
});

it("decides between 3 and 4 by whether a retry may help", () => {
  expect(exitCodeOf(new SandboxError("UNAVAILABLE", "not installed", { retryable: false }))).toBe(3);
  expect(exitCodeOf(new SandboxError("UNAVAILABLE", "no answer", { retryable: true }))).toBe(4);
});
