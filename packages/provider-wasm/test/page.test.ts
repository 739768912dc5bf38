import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import * as z from "zod";
import { optionsSchema } from "../src/index.js";

const page = readFileSync(new URL("../../../docs/providers/wasm.md", import.meta.url), "utf8");
const { properties = {} } = z.toJSONSchema(optionsSchema, { io: "input" });

/** The names in the first column of the table that begins with these words. */
function namesOf(heading: string): (string | undefined)[] {
  const [, table = ""] = page.split(heading);
  const rows = table.slice(0, table.indexOf("\n\n")).split("\n").slice(2);
  return rows.map((row) => /^\| `(\w+)`/.exec(row)?.[1]);
}

it("lists every option on its page, and no other", () => {
  expect(namesOf("| option ").toSorted()).toEqual(Object.keys(properties).toSorted());
});

it("lists every option of packages on its page, and no other", () => {
  const { packages } = properties;
  const known = typeof packages === "object" ? (packages.properties ?? {}) : {};
  expect(namesOf("| `packages`       |").toSorted()).toEqual(Object.keys(known).toSorted());
});
