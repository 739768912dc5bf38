export { createProvider, optionsSchema } from "./create-provider.js";
export { type LocalOptions, local } from "./provider.js";
export { localCapabilities } from "./session.js";
