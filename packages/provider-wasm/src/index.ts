export { optionsSchema, type WasmOptions } from "./options.js";
export { wasm, wasm as createProvider } from "./provider.js";
