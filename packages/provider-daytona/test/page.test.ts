import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import * as z from "zod";
import { optionsSchema } from "../src/index.js";

const page = readFileSync(new URL("../../../docs/providers/daytona.md", import.meta.url), "utf8");

it("lists every option on its page, in the words of the schema", () => {
  const rows = page.split("\n").map((line) => line.replaceAll("`", "").replace(/ +/g, " "));
  const { properties = {} } = z.toJSONSchema(optionsSchema, { io: "input" });
  expect(Object.keys(properties)).toContain("apiKey");
  for (const [name, schema] of Object.entries(properties)) {
    expect(rows).toContain(`| ${name} | ${typeof schema === "object" && schema.description?.replaceAll("`", "")} |`);
  }
});
