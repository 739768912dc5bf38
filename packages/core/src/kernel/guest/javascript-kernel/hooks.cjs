/** What cells are rewritten to call, as the global `__sandkit__`. */
const hooks = {};

Object.defineProperty(globalThis, "__sandkit__", { value: hooks });

/** Makes a global that cells may redefine. */
function defineGlobal(name, value) {
  Object.defineProperty(globalThis, name, { configurable: true, enumerable: false, writable: true, value });
}

module.exports = { defineGlobal, hooks };
