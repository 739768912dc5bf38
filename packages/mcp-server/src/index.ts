// For programs that serve MCP themselves.
export { type Config, configJsonSchema, configSchema } from "./config.js";
export { type GrantOptions, grantSandbox, refOfHandle } from "./grant.js";
export { type HttpServer, type ServeHttpOptions, serveHttp } from "./http/listen.js";
export { ConfigError, type LoadConfigOptions, type LoadedConfig, loadConfig, userConfigPath } from "./load-config.js";
// For hosts with a transport of their own.
export { localPrincipal, type Principal, principalOf } from "./principal.js";
// For programs that choose a provider the same way.
export { ProviderSource, providerNames } from "./provider.js";
export { runMcp } from "./run-mcp.js";
export { Runtime, type RuntimeOptions } from "./runtime.js";
export { createServer } from "./server.js";
export { type ServeStdioOptions, serveStdio } from "./stdio.js";
