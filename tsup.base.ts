import type { Options } from "tsup";

/** What every package builds with: ESM for Node 20, types bundled. */
export const base: Options = {
  format: "esm",
  target: "node20",
  clean: true,
  // tsup sets `baseUrl`, which TypeScript 6 deprecates.
  dts: { compilerOptions: { ignoreDeprecations: "6.0" } },
};
