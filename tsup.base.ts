import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Options } from "tsup";

/** `npm start` builds what runs; the types, which take most of the time, are for tests, checks and publishing. */
const withTypes = process.env.SANDKIT_BUILD !== "js";

/** What every package builds with: ESM for Node 20, types bundled. */
export const base: Options = {
  format: "esm",
  target: "node20",
  clean: withTypes,
  // Whether the types are right is for `npm run typecheck`: here that takes as long again. tsup sets `baseUrl`, which
  // TypeScript 6 deprecates.
  dts: withTypes && { compilerOptions: { ignoreDeprecations: "6.0", noCheck: true } },
};

/** Zod's modules load all its languages, which takes longer than all else of an import: only what is used is built in. */
export const withZod: Options = { noExternal: ["zod"] };

/** To be done after a build {@link withZod}: its license goes where its code does. */
export const copyZodLicense = () => copyLicenses("dist", ["zod"]);

/** The licenses of packages that are built in, beside what has them. */
export async function copyLicenses(folder: string, names: readonly string[]): Promise<void> {
  const modules = fileURLToPath(new URL("node_modules/", import.meta.url));
  for (const name of names) {
    await copyFile(join(modules, name, "LICENSE"), join(folder, `${name.replace("/", "-")}.LICENSE`));
  }
}
