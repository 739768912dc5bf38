import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { balance, type Provider, SandboxError } from "@sandkit/core";
import type { z } from "zod";
import { balanceSchema } from "./balance-config.js";
import type { Config } from "./config.js";
import { MissingProviderError } from "./missing-provider.js";

/** Providers that need no package name. */
export const providerNames: readonly string[] = ["wasm", "docker", "e2b", "daytona"];

/** What a provider package exports beside its own factory. */
interface ProviderModule {
  readonly createProvider: (options: unknown) => Provider | Promise<Provider>;
  readonly optionsSchema: z.ZodType;
}

/**
 * The provider that the config names, imported at first use. A failed attempt is not kept: what was missing may be
 * there at the next call.
 */
export class ProviderSource {
  readonly #config: Config;
  readonly #configPath: string | undefined;
  #loading: Promise<Provider> | undefined;

  constructor(config: Config, configPath?: string) {
    this.#config = config;
    this.#configPath = configPath;
  }

  /** @throws SandboxError `UNAVAILABLE` for a missing package, `INVALID` for a wrong one or wrong options */
  get(): Promise<Provider> {
    const { provider, options } = this.#config;
    this.#loading ??= this.#load(provider, options, "options").catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** @param place Where the options stand in the config. */
  async #load(name: string, options: unknown, place: string): Promise<Provider> {
    if (name === "balance") return this.#loadAll(options, place);
    const packageName = packageOf(name);
    const module = await this.#import(name, packageName);
    if (typeof module.createProvider !== "function" || module.optionsSchema === undefined) {
      throw new SandboxError(
        "INVALID",
        `package "${packageName}" is no Sandkit provider (it exports no createProvider and optionsSchema): name another in "provider" of the config`,
        { provider: name },
      );
    }
    return await module.createProvider(await parsed(module.optionsSchema, name, options, place));
  }

  /** Several providers as one. */
  async #loadAll(options: unknown, place: string): Promise<Provider> {
    const { backends, ...rest } = await parsed(balanceSchema, "balance", options, place);
    const loaded = Object.entries(backends).map(async ([key, backend]): Promise<[string, Provider]> => {
      return [key, await this.#load(backend.provider, backend.options, `${place}.backends.${key}.options`)];
    });
    return balance(Object.fromEntries(await Promise.all(loaded)), rest);
  }

  async #import(name: string, packageName: string): Promise<Partial<ProviderModule>> {
    try {
      return await import(packageName);
    } catch (error) {
      if (!isMissing(error, packageName)) throw this.#broken(packageName, error);
      const beside = this.#resolveBesideConfig(packageName);
      if (beside === undefined) throw new MissingProviderError(name, packageName, error);
      return await import(pathToFileURL(beside).href);
    }
  }

  /** A package installed in the folder of the config file; the working directory is never asked. */
  #resolveBesideConfig(packageName: string): string | undefined {
    if (this.#configPath === undefined) return undefined;
    try {
      return createRequire(this.#configPath).resolve(packageName);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return undefined;
      throw this.#broken(packageName, error);
    }
  }

  #broken(packageName: string, cause: unknown): SandboxError {
    const detail = cause instanceof Error ? cause.message : String(cause);
    return new SandboxError("UNAVAILABLE", `package "${packageName}" cannot be loaded: ${detail}: reinstall it`, {
      provider: this.#config.provider,
      retryable: false,
      cause,
    });
  }
}

async function parsed<Output>(
  schema: z.ZodType<Output>,
  name: string,
  options: unknown,
  place: string,
): Promise<Output> {
  const result = await schema.safeParseAsync(options);
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path, message }) => `${[place, ...path].join(".")}: ${message}`);
  throw new SandboxError("INVALID", `config for provider "${name}": ${issues.join("; ")}`, {
    provider: name,
    cause: result.error,
  });
}

function packageOf(name: string): string {
  if (providerNames.includes(name)) return `@sandkit/provider-${name}`;
  if (/^(@[a-z0-9-][a-z0-9._-]*\/)?[a-z0-9-][a-z0-9._-]*$/.test(name)) return name;
  throw new SandboxError(
    "INVALID",
    `provider ${JSON.stringify(name)} is neither ${providerNames.join(", ")} nor the name of a package: correct "provider" in the config`,
  );
}

// Node tells the missing package only in the message.
function isMissing(error: unknown, packageName: string): boolean {
  return (
    error instanceof Error &&
    (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND" &&
    error.message.includes(`'${packageName}'`)
  );
}
