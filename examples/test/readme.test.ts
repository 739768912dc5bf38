import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(`${root}README.md`, "utf8");
const execute = promisify(execFile);

/** Every block of code that is followed by its output. */
const shown = [...readme.matchAll(/```(ts|sh)\n((?:(?!```)[\s\S])*)```\n```text\n([\s\S]*?)```/g)].map(
  ([, language = "", code = "", output = ""]) => ({ language, code, output }),
);

it("finds the README's blocks", () => {
  expect(shown.map(({ language }) => language)).toEqual(["ts", "sh", "sh"]);
});

it.each(shown.filter(({ language }) => language === "sh"))("$code prints what the README says", async (block) => {
  const { stdout } = await execute("sh", ["-c", block.code], { cwd: root });
  expect(stdout).toBe(block.output);
});

it("prints what the README says under its program, as it stands there", async () => {
  const [program] = shown.filter(({ language }) => language === "ts");
  expect(program?.code).toBe(readFileSync(`${root}examples/first-run.ts`, "utf8"));
  // It has no types to strip, so it runs as printed.
  const path = `${root}examples/readme-program.mjs`;
  try {
    await writeFile(path, program?.code ?? "");
    const { stdout } = await execute(process.execPath, [path]);
    expect(stdout).toBe(program?.output);
  } finally {
    await rm(path, { force: true });
  }
});
