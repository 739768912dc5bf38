import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("..", import.meta.url));
// Set by `npm test` where an engine is; the image is one that it has built.
const image = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";

describe.each([
  { name: "sandbox", page: "sandbox", needsEngine: false },
  { name: "pool", page: "pools", needsEngine: true },
  { name: "docker-network", page: "network", needsEngine: true },
  { name: "snapshots", page: "snapshots", needsEngine: true },
  { name: "balance", page: "balance", needsEngine: false },
])("docs/guide/$page", ({ name, page, needsEngine }) => {
  const text = readFileSync(`${folder}../docs/guide/${page}.md`, "utf8");
  const [, shown, code, output] =
    /`examples\/([\w-]+)\.ts`[\s\S]*?```ts\n([\s\S]*?)```\n```text\n([\s\S]*?)```/.exec(text) ?? [];

  it("shows the program as it stands in examples/", () => {
    expect([shown, code]).toEqual([name, readFileSync(`${folder}${name}.ts`, "utf8")]);
  });

  it.skipIf(needsEngine && process.env.SANDKIT_TEST_ENGINE !== "1")("shows what it prints", async () => {
    const env = { ...process.env, IMAGE: image };
    const { stdout } = await promisify(execFile)(process.execPath, [`${folder}dist/${name}.js`], { env });
    expect(stdout).toBe(output);
  });
});
