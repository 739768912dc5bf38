import { defineConfig } from "tsup";
import { base } from "../tsup.base.js";

export default defineConfig({
  ...base,
  entry: [
    "first-run.ts",
    "sandbox.ts",
    "docker-first-run.ts",
    "docker-detached.ts",
    "docker-network.ts",
    "git.ts",
    "git-clone.ts",
    "snapshots.ts",
    "pool.ts",
    "balance.ts",
    "tour.ts",
  ],
  dts: false,
});
