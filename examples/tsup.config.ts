import { defineConfig } from "tsup";
import { base } from "../tsup.base.js";

export default defineConfig({
  ...base,
  entry: [
    "first-run.ts",
    "docker-first-run.ts",
    "docker-detached.ts",
    "git.ts",
    "git-clone.ts",
    "snapshots.ts",
    "pool.ts",
    "balance.ts",
    "tour.ts",
  ],
  dts: false,
});
