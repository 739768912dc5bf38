import { readFileSync } from "node:fs";

/** Pyodide's scripts, changed so that they run in the realm. */
export interface PythonSources {
  readonly loader: string;
  readonly runtime: string;
}

/**
 * Reads Pyodide's scripts from its package directory. `import()` is removed because its failure would hand the guest
 * an error object of the host's realm. Each change must hit, so that another version of Pyodide fails here, at build.
 */
export function readPythonSources(pyodideDirectory: string): PythonSources {
  const loader = replaceAll(readFileSync(`${pyodideDirectory}/pyodide.js`, "utf8"), [
    [/\bimport\(/g, "__noImport("],
    [/\/\/# sourceMappingURL.*$/m, ""],
  ]);
  const runtime = replaceAll(readFileSync(`${pyodideDirectory}/pyodide.asm.mjs`, "utf8"), [
    [/\bimport\(/g, "__noImport("],
    [/import\.meta\.url/g, '"file:///python/pyodide.asm.mjs"'],
    [/export default _createPyodideModule;/, ""],
    // A listing from the broker brings the types along; one round trip instead of one for each name.
    [
      /child=FS\.lookupNode\(stream\.node,name\)/,
      "child=stream.getdents.types?.get(name)??FS.lookupNode(stream.node,name)",
    ],
  ]);
  const noImport = 'const __noImport=()=>Promise.reject(new Error("import() is disabled"));';
  return {
    loader: `(function(){${noImport}${loader}\n})()`,
    runtime: `(function(){"use strict";${noImport}\n${runtime}\nreturn _createPyodideModule})()`,
  };
}

function replaceAll(source: string, changes: readonly (readonly [RegExp, string])[]): string {
  return changes.reduce((text, [pattern, replacement]) => {
    if (text.search(pattern) < 0) throw new Error(`this version of pyodide has no ${pattern}: the patch needs a look`);
    return text.replace(pattern, () => replacement);
  }, source);
}
