import { cp } from "node:fs/promises";
import { defineConfig } from "tsup";
import { inTwoFiles } from "../../tsup.base.js";

export default defineConfig({
  ...inTwoFiles,
  // Found beside the built module, as they are beside the source: what runs in boxes.
  onSuccess: async () => {
    await cp("src/guest", "dist/guest", { recursive: true });
    await cp("src/packages/guest", "dist/guest", { recursive: true });
  },
});
