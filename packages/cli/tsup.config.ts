import { cp } from "node:fs/promises";
import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/cli.ts"],
  dts: false,
  // Found beside the built modules: scripts that run in sandboxes.
  onSuccess: () => cp("src/guest", "dist/guest", { recursive: true }),
});
