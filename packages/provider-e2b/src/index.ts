export { type E2BNative, type E2BOptions, optionsSchema } from "./options.js";
export { e2b, e2b as createProvider } from "./provider.js";
