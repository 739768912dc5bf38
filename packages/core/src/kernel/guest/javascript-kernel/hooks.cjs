/** What cells are rewritten to call for `import`, under a symbol that javascript-source.ts knows too. */
const hooks = (specifier, options) => hooks.load(specifier, options);

const hooksSymbol = "sandkit.import";
Object.defineProperty(globalThis, Symbol.for(hooksSymbol), { value: hooks });

/** Makes a global that cells may redefine. */
function defineGlobal(name, value) {
  Object.defineProperty(globalThis, name, { configurable: true, enumerable: false, writable: true, value });
}

module.exports = { defineGlobal, hooks, hooksSymbol };
