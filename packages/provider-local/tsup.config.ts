import { copyFile } from "node:fs/promises";
import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/index.ts"],
  // Python finds it beside the built module, as it does beside the source.
  onSuccess: () => copyFile("src/supervisor.py", "dist/supervisor.py"),
});
