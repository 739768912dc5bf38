export { type DockerMount, type DockerNative, type DockerOptions, optionsSchema } from "./options.js";
export { docker, docker as createProvider } from "./provider.js";
