import { type CreateOptions, type Provider, SandboxError } from "@sandkit/core";
import { ConfigError, type LoadedConfig, loadConfig, ProviderSource } from "@sandkit/mcp-server";
import type { Invocation } from "./command.js";

/** Where sandboxes come from, and what every one of them is made with. */
export interface ProviderChoice {
  readonly provider: Provider;
  readonly defaults: CreateOptions;
}

/** The provider of `--provider` and `--config`, chosen exactly as `sandkit mcp` chooses it. */
export async function chooseProvider(values: Invocation["values"]): Promise<ProviderChoice> {
  const { config, path } = await configOf(values);
  return { provider: await new ProviderSource(config, path).get(), defaults: config.defaults };
}

async function configOf({ config, provider }: Invocation["values"]): Promise<LoadedConfig> {
  try {
    return await loadConfig({
      configPath: typeof config === "string" ? config : undefined,
      provider: typeof provider === "string" ? provider : undefined,
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new SandboxError("INVALID", error.message, { cause: error.cause });
  }
}
