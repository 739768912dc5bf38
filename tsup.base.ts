import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Options } from "tsup";

/** `npm start` builds what runs; the types, which take most of the time, are for tests, checks and publishing. */
const withTypes = process.env.SANDKIT_BUILD !== "js";

/** What every package builds with: ESM for Node 20, types bundled. */
export const base = {
  format: "esm",
  target: "node20",
  clean: withTypes,
  // Whether the types are right is for `npm run typecheck`: here that takes as long again. tsup sets `baseUrl`, which
  // TypeScript 6 deprecates.
  dts: withTypes && { compilerOptions: { ignoreDeprecations: "6.0", noCheck: true } },
} satisfies Options;

/**
 * A provider in two whole files, the second of which is loaded at its first use. What both need is small: to load one
 * file more would take longer than to have it twice.
 */
export const inTwoFiles: Options = {
  ...base,
  entry: ["src/index.ts", "src/work.ts"],
  dts: base.dts && { ...base.dts, entry: "src/index.ts" },
  splitting: false,
  external: ["./work.js"],
};

/** The licenses of packages that are built in, beside what has them. */
export async function copyLicenses(folder: string, names: readonly string[]): Promise<void> {
  const modules = fileURLToPath(new URL("node_modules/", import.meta.url));
  for (const name of names) {
    await copyFile(join(modules, name, "LICENSE"), join(folder, `${name.replace("/", "-")}.LICENSE`));
  }
}
