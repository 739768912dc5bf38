import { transform } from "sucrase";
import { UsageError } from "../usage-error.js";
import type { Translated } from "./languages.js";

/**
 * Takes the types out of a module of TypeScript, so that any Node runs it. Lines stay where they are, and a source map
 * has traces name the file that the user wrote.
 * @throws UsageError with file, line and column, where it is no TypeScript
 */
export function toJavaScript(source: string, name: string): Translated {
  const compiled = `${name.replace(/\.m?ts$/i, "")}.mjs`;
  try {
    const { code, sourceMap } = transform(source, {
      transforms: ["typescript"],
      disableESTransforms: true,
      filePath: name,
      sourceMapOptions: { compiledFilename: compiled },
    });
    const map = Buffer.from(JSON.stringify({ ...sourceMap, sourcesContent: [source] })).toString("base64");
    return { name: compiled, code: `${code}\n//# sourceMappingURL=data:application/json;base64,${map}\n` };
  } catch (error) {
    // The parser says `Error transforming app.ts: Unexpected token (3:5)`.
    const [, what = "", line = "", column = ""] =
      /^(?:Error transforming [^:]*: )?(.*?)(?: \((\d+):(\d+)\))?$/s.exec(
        error instanceof Error ? error.message : String(error),
      ) ?? [];
    const place = [name, line, column].filter((part) => part !== "").join(":");
    throw new UsageError(`${place}: this is no TypeScript: ${what}`, [
      { text: "correct the program; nothing was run" },
    ]);
  }
}
