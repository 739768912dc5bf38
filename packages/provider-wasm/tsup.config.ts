import { createRequire } from "node:module";
import { dirname } from "node:path";
import { defineConfig, type Options } from "tsup";
import { mergeChunks } from "../../merge-chunks.js";
import { base } from "../../tsup.base.js";
import { patchJustBash } from "./patch-just-bash.js";

/** Entries that the provider starts by path. Bundled whole: a child may read no other file than these. */
const alone: Options = {
  ...base,
  clean: false,
  dts: false,
  noExternal: [/.*/],
  splitting: false,
  outExtension: () => ({ js: ".mjs" }),
};

/** A script whose completion value is one function of its entry; nothing of it becomes a global where it runs. */
const script = (name: string): Options => ({
  ...alone,
  format: "iife",
  globalName: "own",
  banner: { js: "(() => {" },
  footer: { js: `return own.${name}; })()` },
  outExtension: () => ({ js: ".js" }),
});

/** What core's drivers of JavaScript have in common, as source. */
const commonKernel = `${dirname(createRequire(import.meta.url).resolve("@sandkit/core"))}/guest/javascript-kernel`;

export default defineConfig([
  { ...base, entry: ["src/index.ts"], clean: false, onSuccess: () => mergeChunks("dist", "index") },
  {
    ...alone,
    entry: {
      child: "src/broker/child.ts",
      worker: "src/worker/worker.ts",
      "build-code-cache": "src/code-cache/build.ts",
      "javascript-worker": "src/worker/javascript-worker.ts",
      "build-snapshot": "src/snapshot/build.ts",
      "build-javascript-snapshot": "src/snapshot/build-javascript.ts",
      "shell-worker": "src/worker/shell-worker.ts",
      "build-shell": "src/snapshot/build-shell.ts",
    },
  },
  {
    ...script("shell"),
    entry: { shell: "src/guest/shell/main.ts" },
    banner: { js: "((hostApi) => {" },
    footer: { js: "return own.shell; })" },
    platform: "neutral",
    removeNodeProtocol: false,
    minify: true,
    esbuildPlugins: [patchJustBash],
    esbuildOptions(options) {
      options.mainFields = ["module", "main"];
      options.conditions = ["import"];
      options.alias = { "node:zlib": "./src/guest/shell/zlib.ts", turndown: "./src/guest/shell/html.ts" };
    },
  },
  { ...script("enterRealm"), entry: { realm: "src/guest/realm.ts" } },
  {
    ...script("enter"),
    entry: { javascript: "src/guest/javascript/main.ts" },
    platform: "neutral",
    // Its one import of Node's is replaced below.
    removeNodeProtocol: false,
    target: "es2022",
    esbuildOptions(options) {
      // Names stay: programs see those of classes.
      options.minifyWhitespace = true;
      options.minifySyntax = true;
      options.alias = { "javascript-kernel": commonKernel, "node:util": "./src/guest/javascript/util.ts" };
    },
  },
]);
