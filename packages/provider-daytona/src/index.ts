export { type DaytonaNative, type DaytonaOptions, optionsSchema } from "./options.js";
export { daytona, daytona as createProvider } from "./provider.js";
