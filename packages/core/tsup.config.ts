import { cp } from "node:fs/promises";
import { defineConfig } from "tsup";
import { base, copyZodLicense, withZod } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  ...withZod,
  entry: [
    "src/index.ts",
    "src/kit.ts",
    "src/plan.ts",
    "src/balance/index.ts",
    "src/network/index.ts",
    "src/kernel/cell-report.ts",
    "src/conformance/index.ts",
    "src/security/index.ts",
  ],
  // Found beside the built module, as they are beside the source: the programs of the suites, and what runs in boxes.
  onSuccess: async () => {
    await copyZodLicense();
    for (const suite of ["conformance", "security"])
      await cp(`src/${suite}/programs`, `dist/${suite}/programs`, { recursive: true });
    for (const guest of ["src/agent/guest", "src/kernel/guest", "src/plain/guest"])
      await cp(guest, "dist/guest", { recursive: true });
  },
});
