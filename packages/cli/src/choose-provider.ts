import { type CreateOptions, type Provider, SandboxError } from "@sandkit/core";
import { ConfigError, type LoadedConfig, loadConfig, ProviderSource, providerNames } from "@sandkit/mcp-server/choose";
import { closest } from "./closest.js";
import type { Invocation } from "./command.js";
import { UsageError } from "./usage-error.js";

/** Where sandboxes come from, and what every one of them is made with. */
export interface ProviderChoice {
  readonly provider: Provider;
  readonly defaults: CreateOptions;
}

/** The provider of `--provider` and `--config`, chosen exactly as `sandkit mcp` chooses it. */
export async function chooseProvider(values: Invocation["values"]): Promise<ProviderChoice> {
  const { config, path } = await configOf(values);
  try {
    return { provider: await new ProviderSource(config, path).get(), defaults: config.defaults };
  } catch (error) {
    throw isMissing(error) ? (mistyped(config.provider) ?? error) : error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof SandboxError && "install" in error;
}

/** Nobody must be told to install a package of a mistyped name: anybody may have published one. */
export function mistyped(name: string): UsageError | undefined {
  const near = closest(name, providerNames);
  if (near === undefined || near === name) return undefined;
  return new UsageError(`there is no provider "${name}"`, [
    { text: "did you mean", command: `--provider ${near}` },
    { text: `one of ${providerNames.join(", ")}, or the name of an installed package` },
  ]);
}

/** The config of `--config` and `--provider`; `INVALID` when it cannot be used. */
export async function configOf({ config, provider }: Invocation["values"]): Promise<LoadedConfig> {
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
