// For programs that choose a provider as the server does, and load nothing of MCP for it.
export { ConfigError, type LoadedConfig, loadConfig } from "./load-config.js";
export { ProviderSource, providerNames } from "./provider.js";
