const Module = require("node:module");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");
const { defineGlobal, hooks } = require("./hooks.cjs");

let folder;
let load;

hooks.import = (specifier, options) => load(specifier, options);
hooks.importNames = importNames;
hooks.meta = () => {
  const filename = join(folder, "cell.mjs");
  const { require } = scope(folder);
  const resolve = (specifier) => toUrl(require.resolve(specifier));
  return { dirname: folder, filename, resolve, url: pathToFileURL(filename).href };
};

/** Has cells find modules from the working directory, as a program in it does. */
function followWorkingDirectory() {
  const current = workingDirectory();
  if (current === folder) return;
  folder = current;
  const { module, require, load: loadHere } = scope(folder);
  load = loadHere;
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
  const namespace = await load(specifier, options);
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
