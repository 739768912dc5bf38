import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const folder = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(`${folder}../docs/guide/network.md`, "utf8");
const [, name = "", code, output] =
  /`examples\/([\w-]+)\.ts`[\s\S]*?```ts\n([\s\S]*?)```\n```text\n([\s\S]*?)```/.exec(page) ?? [];
// Set by `npm test` where an engine is; the image is one that it has built.
const IMAGE = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";

it("shows the program as it stands in examples/", () => {
  expect(code).toBe(readFileSync(`${folder}${name}.ts`, "utf8"));
});

it.skipIf(process.env.SANDKIT_TEST_ENGINE !== "1")("shows what it prints", async () => {
  const env = { ...process.env, IMAGE };
  const { stdout } = await promisify(execFile)(process.execPath, [`${folder}dist/${name}.js`], { env });
  expect(stdout).toBe(output);
});
