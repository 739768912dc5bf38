import { cp } from "node:fs/promises";
import { defineConfig } from "tsup";
import { base } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  entry: ["src/cli.ts"],
  dts: false,
  // Found beside the built modules: scripts that run in sandboxes, and those of shells.
  onSuccess: async () => {
    await cp("src/guest", "dist/guest", { recursive: true });
    for (const shell of ["bash", "zsh", "fish"])
      await cp(`src/completion/sandkit.${shell}`, `dist/completion/sandkit.${shell}`);
  },
});
