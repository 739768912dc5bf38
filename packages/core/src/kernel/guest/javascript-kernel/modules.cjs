const Module = require("node:module");
const { createRequire } = Module;
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { defineGlobal, hooks } = require("./hooks.cjs");

let folder;

hooks.names = importNames;
Object.defineProperty(hooks, "meta", { get: importMeta });

function importMeta() {
  const filename = join(folder, "cell.mjs");
  const resolve = (specifier) => toUrl(createRequire(filename).resolve(specifier));
  return { dirname: folder, filename, resolve, url: pathToFileURL(filename).href };
}

/** Has cells find modules from the working directory, as a program in it does. */
function followWorkingDirectory() {
  const current = workingDirectory();
  if (current === folder) return;
  folder = current;
  const { module, require, load } = scope(folder);
  hooks.load = load;
  process.mainModule = module;
  require.main = module;
  process.argv = [process.execPath, module.filename];
  const globals = { module, exports: module.exports, require, __filename: module.filename, __dirname: folder };
  for (const [name, value] of Object.entries(globals)) defineGlobal(name, value);
}

function workingDirectory() {
  try {
    return process.cwd();
  } catch (error) {
    // A cell has removed it.
    if (error.code !== "ENOENT") throw error;
    return folder ?? "/";
  }
}

/** What a module in a folder would be given. Only code compiled as one may import from there in every Node. */
function scope(directory) {
  const module = new Module(join(directory, "cell.cjs"));
  module.filename = module.id;
  module.paths = Module._nodeModulePaths(directory);
  module._compile("module.exports = [require, (specifier, options) => import(specifier, options)]", module.filename);
  const [require, load] = module.exports;
  module.exports = {};
  return { module, require, load };
}

/** The names of a module that a declaration asks for. Those of CommonJS need not be known beforehand. */
async function importNames(specifier, names, options) {
  const namespace = await hooks.load(specifier, options);
  return Object.fromEntries(names.map((name) => [name, namedExport(namespace, name, specifier)]));
}

function namedExport(namespace, name, specifier) {
  if (name in namespace) return namespace[name];
  const whole = namespace.default;
  if ((typeof whole === "object" || typeof whole === "function") && whole !== null && name in whole) return whole[name];
  throw new SyntaxError(`The requested module '${specifier}' does not provide an export named '${name}'`);
}

function toUrl(path) {
  return path.startsWith("/") ? pathToFileURL(path).href : path;
}

module.exports = { followWorkingDirectory };
