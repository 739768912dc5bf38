import { writeFile } from "node:fs/promises";
import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";
import { configJsonSchema } from "./src/config.js";

export default defineConfig({
  ...base,
  entry: ["src/index.ts", "src/cli.ts"],
  async onSuccess() {
    await writeFile("dist/config.schema.json", `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
  },
});
