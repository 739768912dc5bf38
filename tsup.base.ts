import type { Options } from "tsup";

/** `npm start` builds what runs; the types, which take most of the time, are for tests, checks and publishing. */
const withTypes = process.env.SANDKIT_BUILD !== "js";

/** What every package builds with: ESM for Node 20, types bundled. */
export const base: Options = {
  format: "esm",
  target: "node20",
  clean: withTypes,
  // tsup sets `baseUrl`, which TypeScript 6 deprecates.
  dts: withTypes && { compilerOptions: { ignoreDeprecations: "6.0" } },
};
