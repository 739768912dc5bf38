import { readFileSync } from "node:fs";

/** Pyodide's scripts, changed so that they run in the realm. */
export interface PythonSources {
  readonly loader: string;
  readonly runtime: string;
}

type Change = readonly [pattern: RegExp, replacement: string];

/**
 * Emscripten gives each of the interpreter's 8000 functions an address for extensions to come, which is a third of a
 * start. Here one gets its address when the first extension asks for it; that of another module of the same name
 * still loses against it.
 */
const lateAddresses: readonly Change[] = [
  [
    /var GOT=\{\};/,
    "var wrappers=new Map,mainExports=Object.create(null);" +
      'var isLate=name=>typeof mainExports[name]=="function"&&!isInternalSym(name);var GOT={};',
  ],
  [
    /rtn=GOT\[symName\]=new WebAssembly\.Global\(\{value:"i32",mutable:true\},-1\)/,
    'rtn=GOT[symName]=new WebAssembly.Global({value:"i32",mutable:true},' +
      "isLate(symName)?addFunction(mainExports[symName]):-1)",
  ],
  [/updateGOT\(origExports\);/, "mainExports=origExports;updateGOT(origExports);"],
  [
    /if\(isInternalSym\(symName\)\)\{continue\}var value=exports\[symName\];var existingEntry=/,
    "if(isInternalSym(symName)||!GOT[symName]&&isLate(symName)){continue}" +
      "var value=exports[symName];var existingEntry=",
  ],
];

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
    ...lateAddresses,
    // One module for each signature instead of one for each function.
    [
      /var module=new WebAssembly\.Module\(bytes\);var instance=new WebAssembly\.Instance\(module,\{e:\{f:func\}\}\);/,
      "var module=wrappers.get(sig);if(!module)wrappers.set(sig,module=new WebAssembly.Module(bytes));" +
        "var instance=new WebAssembly.Instance(module,{e:{f:func}});",
    ],
  ]);
  const noImport = 'const __noImport=()=>Promise.reject(new Error("import() is disabled"));';
  return {
    loader: `(function(){${noImport}${loader}\n})()`,
    runtime: `(function(){"use strict";${noImport}\n${runtime}\nreturn _createPyodideModule})()`,
  };
}

function replaceAll(source: string, changes: readonly Change[]): string {
  return changes.reduce((text, [pattern, replacement]) => {
    if (text.search(pattern) < 0) throw new Error(`this version of pyodide has no ${pattern}: the patch needs a look`);
    return text.replace(pattern, () => replacement);
  }, source);
}
