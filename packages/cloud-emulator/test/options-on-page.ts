import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** A JSON Schema of options, as far as it is read here. */
interface OptionsSchema {
  readonly properties?: Readonly<Record<string, boolean | { readonly description?: string | undefined }>> | undefined;
}

/** Compares the options of a provider with the table on its page. */
export function optionsOnPage(name: string, { properties = {} }: OptionsSchema): void {
  it("lists every option on its page, in the words of the schema", () => {
    const page = readFileSync(new URL(`../../../docs/providers/${name}.md`, import.meta.url), "utf8");
    const rows = page.split("\n").map((line) => line.replaceAll("`", "").replace(/ +/g, " "));
    expect(Object.keys(properties)).toContain("apiKey");
    for (const [option, schema] of Object.entries(properties)) {
      expect(rows).toContain(
        `| ${option} | ${typeof schema === "object" && schema.description?.replaceAll("`", "")} |`,
      );
    }
  });
}
