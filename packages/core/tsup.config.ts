import { cp } from "node:fs/promises";
import { defineConfig } from "tsup";
import { mergeChunks } from "../../merge-chunks.js";
import { base, copyLicenses } from "../../tsup.base.js";

export default defineConfig({
  ...base,
  // Its modules load all languages, which takes longer than all else of an import: only what is used is built in.
  noExternal: ["zod"],
  entry: [
    "src/index.ts",
    "src/kit.ts",
    "src/network/index.ts",
    "src/kernel/cell-report.ts",
    "src/conformance/index.ts",
    "src/security/index.ts",
  ],
  // Found beside the built module, as they are beside the source: the programs of the suites, and what runs in boxes.
  onSuccess: async () => {
    await copyLicenses("dist", ["zod"]);
    await mergeChunks("dist", "index");
    for (const suite of ["conformance", "security"])
      await cp(`src/${suite}/programs`, `dist/${suite}/programs`, { recursive: true });
    for (const guest of ["src/agent/guest", "src/kernel/guest", "src/plain/guest"])
      await cp(guest, "dist/guest", { recursive: true });
  },
});
