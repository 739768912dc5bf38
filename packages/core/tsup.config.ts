import { cp } from "node:fs/promises";
import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/index.ts", "src/conformance/index.ts"],
  // The suite finds its probe programs beside the built module, as it does beside the source.
  onSuccess: () => cp("src/conformance/programs", "dist/conformance/programs", { recursive: true }),
});
