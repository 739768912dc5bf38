export { type LocalOptions, local } from "./provider.js";
export { localCapabilities } from "./session.js";
