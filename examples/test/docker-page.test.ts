import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { docker, optionsSchema } from "@sandkit/provider-docker";
import { expect, it } from "vitest";
import * as z from "zod";

const folder = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(`${folder}../docs/providers/docker.md`, "utf8");
const programs = [
  ...page.matchAll(/`examples\/([\w-]+)\.ts`[\s\S]*?```ts\n([\s\S]*?)```\n```text\n([\s\S]*?)```/g),
].map(([, name = "", code = "", output = ""]) => ({ name, code, output }));
// Set by `npm test` where an engine is; the image is one that it has built.
const image = process.env.SANDKIT_TEST_IMAGE_PYTHON ?? "sandkit/python:test";

it("lists every option, in the words of the schema", () => {
  const rows = page.split("\n").map((line) => line.replace(/ +/g, " "));
  const { properties = {} } = z.toJSONSchema(optionsSchema, { io: "input", unrepresentable: "any" });
  expect(Object.keys(properties)).toContain("host");
  for (const [name, schema] of Object.entries(properties)) {
    expect(rows).toContain(`| \`${name}\` | ${typeof schema === "object" && schema.description} |`);
  }
});

it("lists every template", () => {
  let names: string[] = [];
  try {
    docker().validate({ template: "unknown" });
  } catch (error) {
    names = /there are ([^;]+);/.exec(String(error))?.[1]?.split(", ") ?? [];
  }
  expect(names).toContain("python");
  for (const name of names) expect(page).toMatch(new RegExp(`^\\|.*\`${name}\``, "m"));
});

it("shows the programs as they stand in examples/", () => {
  expect(programs.map(({ name }) => name)).toEqual(["docker-first-run", "docker-detached"]);
  for (const { name, code } of programs) expect(code).toBe(readFileSync(`${folder}${name}.ts`, "utf8"));
});

it.skipIf(process.env.SANDKIT_TEST_ENGINE !== "1").each(programs)(
  "$name prints what the page says",
  async ({ name, output }) => {
    const env = { ...process.env, IMAGE: image };
    const { stdout } = await promisify(execFile)(process.execPath, [`${folder}dist/${name}.js`], { env });
    expect(stdout).toBe(output);
  },
);
