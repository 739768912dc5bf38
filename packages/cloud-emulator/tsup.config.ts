import { cp } from "node:fs/promises";
import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/index.ts"],
  // Found beside the built module, as they are beside the source: what runs in boxes.
  onSuccess: () => cp("src/guest", "dist/guest", { recursive: true }),
});
