import type { CreateOptions, Provider } from "@sandkit/core";
import { loadConfig, ProviderSource } from "@sandkit/mcp-server";
import type { Invocation } from "./command.js";

/** Where sandboxes come from, and what every one of them is made with. */
export interface ProviderChoice {
  readonly provider: Provider;
  readonly defaults: CreateOptions;
}

/** The provider of `--provider` and `--config`, chosen exactly as `sandkit mcp` chooses it. */
export async function chooseProvider(values: Invocation["values"]): Promise<ProviderChoice> {
  const { config, path } = await loadConfig(configOptions(values));
  return { provider: await new ProviderSource(config, path).get(), defaults: config.defaults };
}

/** The options that lead to a config, as `loadConfig` takes them. */
export function configOptions({ config, provider }: Invocation["values"]) {
  return {
    configPath: typeof config === "string" ? config : undefined,
    provider: typeof provider === "string" ? provider : undefined,
  };
}
