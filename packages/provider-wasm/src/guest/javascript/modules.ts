import { existing, find } from "./files.js";
import { readFileSync } from "./fs.js";
import { host } from "./host.js";
import { handOver } from "./last-statement.js";
import { builtinName, describeMissing, packageExport, packageType, readPackage, unknownBuiltin } from "./packages.js";
import { dirname, extname, resolve } from "./path.js";
import { fileUrl, fileUrlPath } from "./url.js";

/** A module of CommonJS. */
export class Module {
  readonly id: string;
  readonly filename: string;
  readonly path: string;
  exports: unknown = {};
  loaded = false;
  readonly children: Module[] = [];
  readonly paths: string[] = [];

  constructor(filename: string) {
    this.id = filename;
    this.filename = filename;
    this.path = dirname(filename);
  }
}

/** `require`, as one module has it. */
export interface Require {
  (specifier: string): unknown;
  resolve: (specifier: string) => string;
  main: Module | undefined;
  cache: Record<string, Module>;
}

type Kind = "import" | "require";

/** What cells are rewritten to call for `import`; javascript-source.ts of core knows the symbol too. */
const importSymbol = Symbol.for("sandkit.import");
const failedPrefix = "sandkit:failed/";
const parameters = "exports, require, module, __filename, __dirname";
const extensions = ["", ".js", ".json", ".cjs", ".mjs"];
const moduleSyntax =
  /^\s*(?:import\s*["'{*\w]|export\s*[{*]|export\s+(?:default|const|let|var|function|class|async)\b)|\bawait\b|\bimport\.meta\b/m;

/** Modules from the sandbox's files, and those that the interpreter brings along. */
export class Modules {
  readonly #builtins: ReadonlyMap<string, () => unknown>;
  readonly #cache: Record<string, Module> = Object.create(null);
  /** Why names that the engine was given cannot be loaded. */
  readonly #failures: unknown[] = [];
  /** Sources by the names of modules, where they are not those of the files. */
  readonly #inline = new Map<string, string>();
  #folder: string | undefined;
  #main: Module | undefined;

  constructor(builtins: ReadonlyMap<string, () => unknown>) {
    this.#builtins = builtins;
    const load = (specifier: unknown) => this.#importer(this.#cellFile())(String(specifier));
    const hooks = Object.assign(load, {
      names: (specifier: unknown, names: string[]) => this.#importNames(String(specifier), names),
      require: (path: string) => this.#requireFrom("/", path),
      metaOf: (path: string) => this.#metaOf(path),
    });
    Object.defineProperty(hooks, "meta", { get: () => this.#metaOf(this.#cellFile()) });
    Object.defineProperty(globalThis, importSymbol, { value: hooks });
  }

  /** Has cells find modules from a directory, as a program in it does. */
  follow(folder: string): void {
    if (folder === this.#folder) return;
    this.#folder = folder;
    const module = new Module(resolve(folder, "cell.cjs"));
    this.#main = module;
    this.#defineScope(module);
  }

  #defineScope(module: Module): void {
    const { filename } = module;
    const scope = {
      module,
      exports: module.exports,
      require: this.requireOf(filename),
      __filename: filename,
      __dirname: module.path,
    };
    for (const [name, value] of Object.entries(scope)) {
      Object.defineProperty(globalThis, name, { configurable: true, enumerable: false, writable: true, value });
    }
  }

  /** `require` for a module of that file name. */
  requireOf(filename: string): Require {
    const from = dirname(filename);
    return Object.assign((specifier: string) => this.#requireFrom(from, specifier), {
      resolve: (specifier: string) => plain(this.#resolve(specifier, from, "require")),
      main: this.#main,
      cache: this.#cache,
    });
  }

  /** Runs a program; the promise of one that is an ES module, or what its last statement gives. */
  runMain(given: string): unknown {
    const path = this.#file(given) ?? this.#directory(given, "require");
    if (path === undefined) throw notFound(given, undefined);
    if (this.#isModule(path)) {
      this.#inline.set(path, handOver(String(readFileSync(path, "utf8")), "await"));
      return this.#importer(resolve("main.mjs"))(path);
    }
    this.#main = new Module(path);
    return this.#evaluateFile(this.#main, path);
  }

  /** Runs code that has no file; gives its completion value, or the promise of an ES module. */
  runCode(code: string, name: string, isModule?: boolean): unknown {
    if (isModule) return this.#runModule(code, name);
    this.#main = new Module(resolve(name));
    this.#defineScope(this.#main);
    try {
      return host().compile(JSON.stringify(code), name);
    } catch (error) {
      if (isModule === false || !(error instanceof SyntaxError) || !moduleSyntax.test(code)) throw error;
      return this.#runModule(code, name);
    }
  }

  #runModule(code: string, name: string): unknown {
    const path = resolve(name);
    this.#inline.set(path, code);
    return this.#importer(resolve("main.mjs"))(path);
  }

  /** For the engine: the name of the module that `base` asks for. Never throws. */
  resolveName(base: string, specifier: string): string {
    try {
      return this.#resolve(specifier, dirname(base), "import");
    } catch (error) {
      this.#failures.push(error);
      return `${failedPrefix}${this.#failures.length - 1}`;
    }
  }

  /** For the engine: the source of a module by its name. */
  source(name: string): string {
    if (name.startsWith(failedPrefix)) throw this.#failures[Number(name.slice(failedPrefix.length))];
    if (name.startsWith("node:")) return this.#wrapped(name, this.#builtin(name));
    const inline = this.#inline.get(name);
    if (inline !== undefined) return this.#withMeta(name, inline);
    if (extname(name) === ".json") return `export default ${String(readFileSync(name, "utf8"))}`;
    if (!this.#isModule(name)) return this.#wrapped(name, this.#requireFrom("/", name));
    return this.#withMeta(name, String(readFileSync(name, "utf8")));
  }

  #withMeta(name: string, code: string): string {
    const meta = `Object.assign(import.meta,globalThis[Symbol.for("sandkit.import")].metaOf(${JSON.stringify(name)}));`;
    return meta + code.replace(/^#!.*/, "");
  }

  /** An ES module over what is none: the whole as default, and its members by name. */
  #wrapped(name: string, exports: unknown): string {
    const members = typeof exports === "object" || typeof exports === "function" ? Object.keys(exports ?? {}) : [];
    const names = members.filter((key) => key !== "default" && /^[A-Za-z_$][\w$]*$/.test(key));
    const list = names.map(
      (key, index) => `const v${index} = whole[${JSON.stringify(key)}]; export { v${index} as ${key} };`,
    );
    return `const whole = globalThis[Symbol.for("sandkit.import")].require(${JSON.stringify(name)}); export default whole; ${list.join(" ")}`;
  }

  #importer(base: string): (specifier: string) => Promise<Record<string, unknown>> {
    return host().compile(JSON.stringify("(specifier) => import(specifier)"), base) as never;
  }

  /** The names of a module that a declaration asks for. Those of CommonJS need not be known beforehand. */
  async #importNames(specifier: string, names: readonly string[]): Promise<Record<string, unknown>> {
    const namespace = await this.#importer(this.#cellFile())(specifier);
    return Object.fromEntries(names.map((name) => [name, namedExport(namespace, name, specifier)]));
  }

  #cellFile(): string {
    return resolve(this.#folder ?? "", "cell.mjs");
  }

  #metaOf(path: string): Record<string, unknown> {
    const from = dirname(path);
    const toUrl = (specifier: string) => {
      const found = this.#resolve(specifier, from, "import");
      return found.startsWith("/") ? fileUrl(found) : found;
    };
    return { dirname: from, filename: path, resolve: toUrl, url: fileUrl(path) };
  }

  #requireFrom(from: string, specifier: string): unknown {
    const path = this.#resolve(specifier, from, "require");
    if (path.startsWith("node:")) return this.#builtin(path);
    const known = this.#cache[path];
    if (known) return known.exports;
    const module = new Module(path);
    this.#cache[path] = module;
    try {
      this.#evaluateFile(module, path);
    } catch (error) {
      delete this.#cache[path];
      throw error;
    }
    return module.exports;
  }

  #evaluateFile(module: Module, path: string): unknown {
    this.#cache[path] = module;
    const extension = extname(path);
    if (extension === ".node" || extension === ".ts") {
      const next = extension === ".ts" ? ": run it as a cell of TypeScript, or by `sandkit run`" : "";
      throw new Error(`${path}: this sandbox's JavaScript cannot load ${extension} files${next}`);
    }
    const code = String(readFileSync(path, "utf8"));
    let value: unknown;
    if (extension === ".json") module.exports = JSON.parse(code);
    else if (this.#isModule(path)) {
      const error = new Error(`require() of ES Module ${path} not supported: use import()`);
      throw Object.assign(error, { code: "ERR_REQUIRE_ESM" });
    } else {
      const run = module === this.#main ? compileMain(code, path) : compileFunction(code, path);
      value = run.call(module.exports, module.exports, this.requireOf(path), module, path, module.path);
    }
    module.loaded = true;
    return value;
  }

  /** Decided by the name, by the package, and else by what the code is. */
  #isModule(path: string): boolean {
    const extension = extname(path);
    if (extension === ".mjs") return true;
    if (extension !== ".js" && extension !== "") return false;
    const type = packageType(dirname(path));
    if (type !== undefined) return type === "module";
    const code = String(readFileSync(path, "utf8"));
    if (!moduleSyntax.test(code)) return false;
    try {
      compileFunction(code, path);
      return false;
    } catch (error) {
      return error instanceof SyntaxError;
    }
  }

  /** An absolute path, or the name of what the interpreter brings along. */
  #resolve(given: string, from: string, kind: Kind): string {
    const specifier = given.startsWith("file:") ? fileUrlPath(given) : given;
    const builtin = builtinName(specifier, this.#builtins);
    if (builtin !== undefined) return `node:${builtin}`;
    if (specifier.startsWith("node:")) throw unknownBuiltin(specifier);
    if (this.#inline.has(specifier)) return specifier;
    const path = /^(?:\.{0,2}\/|\.{1,2}$)/.test(specifier)
      ? this.#place(resolve(from, specifier), kind)
      : this.#package(specifier, from, kind);
    if (path === undefined) throw notFound(given, from, kind);
    return path;
  }

  #place(path: string, kind: Kind): string | undefined {
    if (kind === "import") return fileAt(path);
    return this.#file(path) ?? this.#directory(path, kind);
  }

  #package(specifier: string, from: string, kind: Kind): string | undefined {
    const [, name = "", rest = ""] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(specifier) ?? [];
    for (let at = from; ; at = dirname(at)) {
      const folder = `${at === "/" ? "" : at}/node_modules/${name}`;
      const exported = packageExport(folder, `.${rest}`, kind);
      if (exported !== undefined) return fileAt(exported);
      const path = rest === "" ? this.#directory(folder, kind) : this.#place(folder + rest, kind);
      if (path !== undefined) return path;
      if (at === "/") return undefined;
    }
  }

  #file(path: string): string | undefined {
    for (const extension of extensions) {
      const found = fileAt(path + extension);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #directory(path: string, kind: Kind): string | undefined {
    const main = readPackage(path)?.main;
    if (typeof main === "string") {
      const found = this.#file(resolve(path, main)) ?? this.#file(resolve(path, main, "index"));
      if (found !== undefined || kind === "import") return found;
    }
    return this.#file(`${path}/index`);
  }

  #builtin(name: string): unknown {
    return this.#builtins.get(name.slice("node:".length))?.();
  }
}

function compileFunction(code: string, path: string): (...args: unknown[]) => unknown {
  const wrapped = `(function (${parameters}) {${code.replace(/^#!.*/, "")}\n})`;
  return host().compile(JSON.stringify(wrapped), path) as (...args: unknown[]) => unknown;
}

/** As any module, but that it hands over what its last statement gives, where that can be done. */
function compileMain(code: string, path: string): (...args: unknown[]) => unknown {
  try {
    return compileFunction(handOver(code, "return"), path);
  } catch (error) {
    if (error instanceof SyntaxError) return compileFunction(code, path);
    throw error;
  }
}

/** The real path of a file, or undefined where there is none. */
function fileAt(path: string): string | undefined {
  try {
    const { info } = find(path, true, "open");
    return info && (info.mode & 0o170000) === 0o100000 ? existing(path, true, "open").path : undefined;
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as { code?: string }).code ?? "")) return undefined;
    throw error;
  }
}

function plain(name: string): string {
  return name.startsWith("node:") ? name.slice("node:".length) : name;
}

function namedExport(namespace: Record<string, unknown>, name: string, specifier: string): unknown {
  if (name in namespace) return namespace[name];
  const whole = namespace.default as Record<string, unknown> | null;
  if ((typeof whole === "object" || typeof whole === "function") && whole !== null && name in whole) return whole[name];
  throw new SyntaxError(`The requested module '${specifier}' does not provide an export named '${name}'`);
}

function notFound(specifier: string, from: string | undefined, kind: Kind = "require"): Error {
  const where = from === undefined ? "" : ` from ${from}`;
  const code = kind === "import" ? "ERR_MODULE_NOT_FOUND" : "MODULE_NOT_FOUND";
  const help = from !== undefined && /^[@\w]/.test(specifier) ? ` (${describeMissing(specifier)})` : "";
  return Object.assign(new Error(`Cannot find module '${specifier}'${where}${help}`), { code });
}
