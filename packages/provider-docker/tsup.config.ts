import { defineConfig } from "tsup";
import { base, copyZodLicense, withZod } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  ...withZod,
  entry: ["src/index.ts"],
  onSuccess: copyZodLicense,
});
