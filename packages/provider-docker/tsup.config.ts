import { cp } from "node:fs/promises";
import { defineConfig } from "tsup";
import { base, copyZodLicense, withZod } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  ...withZod,
  entry: ["src/index.ts"],
  // Read by path, beside the built module as beside the source.
  onSuccess: async () => {
    await copyZodLicense();
    await cp("src/plain/guest", "dist/guest", { recursive: true });
  },
});
