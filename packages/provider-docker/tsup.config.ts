import { cp } from "node:fs/promises";
import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/index.ts"],
  // Read by path, beside the built module as beside the source.
  onSuccess: () => cp("src/plain/guest", "dist/guest", { recursive: true }),
});
