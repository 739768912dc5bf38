import { defineConfig, type Options } from "tsup";
import { base } from "../../tsup.base.js";

/** Entries that the provider starts by path. Bundled whole: a child may read no other file than these. */
const alone: Options = {
  ...base,
  clean: false,
  dts: false,
  noExternal: [/.*/],
  splitting: false,
  outExtension: () => ({ js: ".mjs" }),
};

export default defineConfig([
  { ...base, entry: ["src/index.ts"], clean: false },
  {
    ...alone,
    entry: {
      child: "src/broker/child.ts",
      worker: "src/worker/worker.ts",
      "build-code-cache": "src/code-cache/build.ts",
      "build-snapshot": "src/snapshot/build.ts",
    },
  },
  {
    ...alone,
    entry: { realm: "src/guest/realm.ts" },
    format: "iife",
    // The script's completion value is the function that enters the realm; nothing of it becomes a global there.
    globalName: "own",
    banner: { js: "(() => {" },
    footer: { js: "return own.enterRealm; })()" },
    outExtension: () => ({ js: ".js" }),
  },
]);
