import { readFileSync } from "./fs.js";
import { dirname, resolve } from "./path.js";

/** The parts of a package.json that decide how its modules are found. */
export interface Package {
  readonly main?: unknown;
  readonly type?: unknown;
  readonly exports?: unknown;
}

/** Modules of Node that need what a sandbox of WebAssembly does not have. */
const absent: Readonly<Record<string, string>> = {
  http: "network",
  https: "network",
  http2: "network",
  tls: "network",
  dgram: "network",
  dns: "network",
  child_process: "processes",
  cluster: "processes",
  worker_threads: "threads",
};

/** Further ones that are not there; a package of the sandbox may have their name. */
const others =
  "async_hooks constants crypto diagnostics_channel dns/promises domain inspector punycode querystring repl";
const further = new Set(
  `${others} stream stream/promises string_decoder sys test trace_events tty v8 vm wasi zlib`.split(" "),
);

/** What to tell of a name that leads to no package. */
export function describeMissing(name: string): string {
  if (name === "crypto") return "of Node's there are getRandomValues and randomUUID, by the global crypto";
  if (further.has(name)) return "QuickJS has only a part of Node in this sandbox";
  return "there are no packages here but those in node_modules of the sandbox";
}

/** The name of a module that the interpreter brings along, without its scheme. */
export function builtinName(specifier: string, known: ReadonlyMap<string, unknown>): string | undefined {
  const name = specifier.startsWith("node:") ? specifier.slice("node:".length) : specifier;
  if (known.has(name)) return name;
  if (Object.hasOwn(absent, name)) throw unknownBuiltin(specifier);
  return undefined;
}

/** Says why a module of Node is not there. */
export function unknownBuiltin(specifier: string): Error {
  const name = specifier.replace(/^node:/, "");
  const lacks = absent[name];
  const reason =
    lacks === undefined
      ? name === "crypto"
        ? describeMissing(name)
        : "QuickJS has only a part of Node"
      : `there are no ${lacks === "network" ? "connections, and HTTP goes through fetch" : lacks}`;
  const error = new Error(`No such built-in module: ${specifier}: ${reason} in this sandbox`);
  return Object.assign(error, { code: "ERR_UNKNOWN_BUILTIN_MODULE" });
}

/** The package.json of a directory, or undefined where there is none. */
export function readPackage(folder: string): Package | undefined {
  let text: string;
  try {
    text = String(readFileSync(`${folder}/package.json`, "utf8"));
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as { code?: string }).code ?? "")) return undefined;
    throw error;
  }
  return JSON.parse(text) as Package;
}

/** The type that the nearest package gives its modules. */
export function packageType(folder: string): "module" | "commonjs" | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = readPackage(at);
    if (found) return found.type === "module" ? "module" : found.type === "commonjs" ? "commonjs" : undefined;
    if (at === "/") return undefined;
  }
}

/** Where `exports` of a package leads; undefined where it has none. @throws Error for what it does not export */
export function packageExport(folder: string, subpath: string, kind: "import" | "require"): string | undefined {
  const exported = readPackage(folder)?.exports;
  if (exported === undefined || exported === null) return undefined;
  const map = isMap(exported) ? exported : { ".": exported };
  for (const [pattern, target] of Object.entries(map)) {
    const star = matched(pattern, subpath);
    const path = star === undefined ? undefined : choose(target, kind);
    if (path !== undefined) return resolve(folder, path.replaceAll("*", star ?? ""));
  }
  const error = new Error(`Package subpath '${subpath}' is not defined by "exports" in ${folder}/package.json`);
  throw Object.assign(error, { code: "ERR_PACKAGE_PATH_NOT_EXPORTED" });
}

function isMap(exported: unknown): exported is Record<string, unknown> {
  return typeof exported === "object" && exported !== null && Object.keys(exported).some((key) => key.startsWith("."));
}

function matched(pattern: string, subpath: string): string | undefined {
  const [start = "", end] = pattern.split("*");
  if (end === undefined) return pattern === subpath ? "" : undefined;
  if (!subpath.startsWith(start) || !subpath.endsWith(end)) return undefined;
  return subpath.slice(start.length, subpath.length - end.length);
}

function choose(target: unknown, kind: "import" | "require"): string | undefined {
  if (typeof target === "string") return target;
  if (Array.isArray(target)) return target.map((item) => choose(item, kind)).find((path) => path !== undefined);
  if (typeof target !== "object" || target === null) return undefined;
  for (const [condition, inner] of Object.entries(target)) {
    if (!["node", "default", kind].includes(condition)) continue;
    const path = choose(inner, kind);
    if (path !== undefined) return path;
  }
  return undefined;
}
