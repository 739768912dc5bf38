import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build, type Plugin } from "esbuild";

/** Statements of esbuild's, as it writes them. */
const chunkImport = /^import (?:\{([^}]*)\} from )?"((?:\.\.?\/)+)(chunk-[A-Z0-9]+)\.js";$/gm;
const exportList = /^export \{([^}]*)\};$/m;

/**
 * Makes one file of all chunks that an entry loads. Splitting makes many small ones, and to find, read and link a file
 * takes Node longer than to run what is in most of them.
 */
export async function mergeChunks(folder: string, entry: string): Promise<void> {
  const [chunks, name] = [await chunksOf(folder, `${entry}.js`), `${entry}-parts.js`];
  await build({
    stdin: { contents: await exportsOf(folder, chunks), resolveDir: folder },
    outfile: join(folder, name),
    bundle: true,
    format: "esm",
    platform: "node",
    plugins: [only(chunks)],
    logLevel: "warning",
  });
  await Promise.all(chunks.map((chunk) => rm(join(folder, `${chunk}.js`))));
  for (const file of await readdir(folder, { recursive: true })) {
    if (!file.endsWith(".js")) continue;
    const text = await readFile(join(folder, file), "utf8");
    const renamed = text.replace(chunkImport, (whole, list: string | undefined, up: string, chunk: string) => {
      if (!chunks.includes(chunk)) return whole;
      const names = namesIn(list).map(([name, as]) => `${inParts(name, chunk)} as ${as}`);
      return `import { ${names.join(", ")} } from "${up}${name}";`;
    });
    if (renamed !== text) await writeFile(join(folder, file), renamed);
  }
}

/** The chunks that a file loads, and those that they load. */
async function chunksOf(folder: string, file: string, found: string[] = []): Promise<readonly string[]> {
  for (const [, , , chunk] of (await readFile(join(folder, file), "utf8")).matchAll(chunkImport)) {
    if (chunk === undefined || found.includes(chunk)) continue;
    found.push(chunk);
    await chunksOf(folder, `${chunk}.js`, found);
  }
  return found;
}

/** A module that exports whatever the chunks do. */
async function exportsOf(folder: string, chunks: readonly string[]): Promise<string> {
  const statements = chunks.map(async (chunk) => {
    const names = namesIn(exportList.exec(await readFile(join(folder, `${chunk}.js`), "utf8"))?.[1]);
    return `export { ${names.map(([, as]) => `${as} as ${inParts(as, chunk)}`).join(", ")} } from "./${chunk}.js";`;
  });
  return (await Promise.all(statements)).join("\n");
}

/** Whatever else is imported stays a file or a package of its own. */
function only(chunks: readonly string[]): Plugin {
  return {
    name: "only-chunks",
    setup(build) {
      build.onResolve({ filter: /^/ }, ({ path }) =>
        chunks.includes(basename(path, ".js")) ? undefined : { path, external: true },
      );
    },
  };
}

/** Pairs of a name and what it is called where it goes. */
function namesIn(list = ""): (readonly [name: string, as: string])[] {
  const entries = list.split(",").map((entry) => entry.trim());
  return entries
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [name = "", as = name] = entry.split(" as ");
      return [name, as];
    });
}

/** Two chunks may have one name for different things. */
function inParts(name: string, chunk: string): string {
  return `${name}_${chunk.slice("chunk-".length)}`;
}
